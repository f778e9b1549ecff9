#include "worker/synchronizers/ps_summer.h"

#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<PsSummer>> PsSummer::Create(Config config) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<PsExchange> exchange,
                            PsExchange::Create(std::move(config)));
  return std::make_unique<PsSummer>(std::move(exchange));
}

absl::StatusOr<absl::Span<const float>> PsSummer::Finish(int64_t step) {
  RINGSIDE_RETURN_IF_ERROR(exchange_->Finish(step).status());
  return exchange_->results();
}

}  // namespace ringside
