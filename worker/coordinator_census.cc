#include "worker/coordinator_census.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace ringside {

CoordinatorCensus::CoordinatorCensus(CoordinatorClient* client, std::vector<MemberId> workers,
                                     absl::Duration timeout)
    : client_(client), workers_(std::move(workers)), timeout_(timeout) {}

absl::StatusOr<std::vector<std::string>> CoordinatorCensus::Ask(int64_t step,
                                                                const std::string& own) {
  return client_->GatherForAll(absl::StrCat("non-finite gradients of step ", step), workers_, own,
                               timeout_);
}

}  // namespace ringside
