// The optimizer of a shard: the workers' optimizer and schedule (common/), unit by unit.
// Thread-compatible.
#ifndef RINGSIDE_PS_SERVER_SERVER_OPTIMIZER_H_
#define RINGSIDE_PS_SERVER_SERVER_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/fork_join.h"
#include "common/learning_rate.h"
#include "common/optimizer.h"

namespace ringside {

class ServerOptimizer {
 public:
  // For `elements` parameters in units of at most `max_unit_elements`. INVALID_ARGUMENT: optimizer
  // or schedule do not validate; RESOURCE_EXHAUSTED: no memory for the state.
  static absl::StatusOr<std::unique_ptr<ServerOptimizer>> Create(const OptimizerConfig& optimizer,
                                                                 const LearningRateConfig& rate,
                                                                 int64_t elements,
                                                                 int64_t max_unit_elements);

  // Room for one unit's gradient, to be folded there and then applied.
  absl::Span<float> gradient(size_t elements) { return absl::MakeSpan(gradient_).first(elements); }
  // Applies `gradient(parameters.size())` to the elements from `position` on. `update` counts the
  // updates of these elements from 1; `step` is where the schedule is, whose rate is multiplied by
  // `share`.
  void Update(int64_t update, int64_t step, double share, int64_t position,
              absl::Span<float> parameters, ForkJoin* fork_join);

  std::vector<absl::Span<float>> State() { return optimizer_->State(); }

 private:
  ServerOptimizer(std::unique_ptr<Optimizer> optimizer, LearningRateSchedule schedule,
                  int64_t max_unit_elements);

  const std::unique_ptr<Optimizer> optimizer_;
  const LearningRateSchedule schedule_;
  std::vector<float> gradient_;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SERVER_OPTIMIZER_H_
