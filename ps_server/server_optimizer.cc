#include "ps_server/server_optimizer.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<ServerOptimizer>> ServerOptimizer::Create(
    const OptimizerConfig& optimizer, const LearningRateConfig& rate, int64_t elements,
    int64_t max_unit_elements) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Optimizer> made,
                            Optimizer::Create(optimizer, elements));
  RINGSIDE_ASSIGN_OR_RETURN(LearningRateSchedule schedule,
                            LearningRateSchedule::Create(rate, optimizer.learning_rate));
  return absl::WrapUnique(new ServerOptimizer(std::move(made), std::move(schedule),
                                              std::min(elements, max_unit_elements)));
}

ServerOptimizer::ServerOptimizer(std::unique_ptr<Optimizer> optimizer,
                                 LearningRateSchedule schedule, int64_t max_unit_elements)
    : optimizer_(std::move(optimizer)),
      schedule_(std::move(schedule)),
      gradient_(static_cast<size_t>(max_unit_elements)) {}

void ServerOptimizer::Update(int64_t update, int64_t step, double share, int64_t position,
                             absl::Span<float> parameters, ForkJoin* fork_join) {
  const double rate = schedule_.At(step) * share;
  const absl::Span<const float> gradients = gradient(parameters.size());
  fork_join->Run(static_cast<int64_t>(parameters.size()), [&](const ElementRange& range) {
    optimizer_->ApplyRange(update, rate, position + range.begin,
                           gradients.subspan(range.begin, range.length),
                           parameters.subspan(range.begin, range.length));
  });
}

}  // namespace ringside
