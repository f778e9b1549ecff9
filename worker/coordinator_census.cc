#include "worker/coordinator_census.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/suspects.h"

namespace ringside {

CoordinatorCensus::CoordinatorCensus(CoordinatorClient* client, std::vector<MemberId> workers,
                                     absl::Duration timeout)
    : client_(client),
      workers_(std::move(workers)),
      timeout_(timeout),
      prefix_(client->membership().restart_timeout_ms() > 0 ? "recovery-0-" : "") {}

absl::StatusOr<std::vector<std::string>> CoordinatorCensus::Ask(int64_t step,
                                                                const std::string& own) {
  auto answers = client_->GatherForAll(absl::StrCat(prefix_, "non-finite gradients of step ", step),
                                       workers_, own, timeout_);
  if (prefix_.empty() || !absl::IsAborted(answers.status())) return answers;
  return WithSuspects(absl::AbortedError(answers.status().message()), workers_);
}

}  // namespace ringside
