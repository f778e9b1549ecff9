// The learning rate as a function of the step, the same on workers and servers.
//
// With base rate r, step t from 1 and w steps of warm-up, the rate is warm(t) * decayed(t):
//   warm(t)    = min(1, t / w); 1 without warm-up. Linear, so that step w is the first with the
//   full
//                rate: the gradual warm-up of Goyal et al. 2017, "Accurate, Large Minibatch SGD".
//   constant:    r
//   step:        r * factor^floor((t - 1) / k). Counted from step 1, warm-up or not, as there.
//   cosine:      f + (r - f) / 2 * (1 + cos(pi * d / (T - w))), d = t - 1 - w, from r after the
//                warm-up to the final rate f, which step T + 1 and all later ones would have: one
//                cycle of Loshchilov & Hutter 2017, "SGDR", without its restarts, and the values of
//                torch.optim's CosineAnnealingLR. T counts the warm-up.
#ifndef RINGSIDE_COMMON_LEARNING_RATE_H_
#define RINGSIDE_COMMON_LEARNING_RATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ringside {

struct LearningRateConfig {
  std::string schedule = "constant";  // constant, step, cosine
  int64_t warmup_steps = 0;           // w; 0: none
  int64_t decay_steps = 0;            // k; of step
  double decay_factor = 0.1;          // of step
  int64_t total_steps = 0;            // T; of cosine
  double final_rate = 0;              // f; of cosine

  // For a base rate that OptimizerConfig has found valid. INVALID_ARGUMENT names the flag, its
  // value and what is allowed; what another schedule would need must not be given.
  absl::Status Validate(double base_rate) const;
};

const std::vector<std::string>& KnownLearningRateSchedules();

// The base rate of a schedule, from the one that a user gives for a batch of --batch_size: times
// `batches`, how many of these a step takes (ranks times micro-batches), with "linear" (Goyal et
// al. 2017), times its square root with "sqrt", as it is with "none". INVALID_ARGUMENT: another
// scaling, named with the flag.
absl::StatusOr<double> ScaledRate(const std::string& scaling, double rate, int64_t batches);
const std::vector<std::string>& KnownLearningRateScalings();

// A pure value; thread-safe as one. At allocates nothing.
class LearningRateSchedule {
 public:
  // INVALID_ARGUMENT as Validate.
  static absl::StatusOr<LearningRateSchedule> Create(const LearningRateConfig& config,
                                                     double base_rate);

  // The rate of `step`, which counts from 1.
  double At(int64_t step) const;

 private:
  enum class Decay { kConstant, kStep, kCosine };

  LearningRateSchedule(const LearningRateConfig& config, double base_rate);
  double Decayed(int64_t step) const;

  Decay decay_;
  double base_rate_;
  int64_t warmup_steps_;
  int64_t decay_steps_;
  double decay_factor_;
  int64_t total_steps_;
  double final_rate_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_LEARNING_RATE_H_
