#include "common/learning_rate.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/check.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr double kPi = 3.14159265358979323846;

template <typename Number>
absl::Status Refuse(absl::string_view flag, Number value, absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", value, ": must be ", allowed));
}

absl::Status ValidateStep(const LearningRateConfig& config) {
  if (config.decay_steps < 1) {
    return Refuse("lr_decay_steps", config.decay_steps, "at least 1 with --lr_schedule=step");
  }
  // False for NaN as well.
  if (!(config.decay_factor > 0 && config.decay_factor <= 1)) {
    return Refuse("lr_decay_factor", config.decay_factor, "greater than 0 and at most 1");
  }
  return absl::OkStatus();
}

absl::Status ValidateCosine(const LearningRateConfig& config, double base_rate) {
  if (config.total_steps < 1) {
    return Refuse("lr_total_steps", config.total_steps,
                  "at least 1 with --lr_schedule=cosine, or 0 with --steps, which it is then");
  }
  if (config.warmup_steps >= config.total_steps) {
    return Refuse("lr_warmup_steps", config.warmup_steps,
                  absl::StrCat("less than the ", config.total_steps,
                               " steps that --lr_schedule=cosine has in all"));
  }
  if (!(config.final_rate >= 0 && config.final_rate <= base_rate)) {
    return Refuse("lr_final", config.final_rate,
                  absl::StrCat("at least 0 and at most the base rate, which is ", base_rate));
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<std::string>& KnownLearningRateSchedules() {
  static const auto* known = new std::vector<std::string>{"constant", "step", "cosine"};
  return *known;
}

const std::vector<std::string>& KnownLearningRateScalings() {
  static const auto* known = new std::vector<std::string>{"none", "linear", "sqrt"};
  return *known;
}

absl::StatusOr<double> ScaledRate(const std::string& scaling, double rate, int64_t batches) {
  if (scaling == "none") return rate;
  // A square root is rounded correctly everywhere, so workers and shards agree.
  if (scaling == "linear") return rate * static_cast<double>(batches);
  if (scaling == "sqrt") return rate * std::sqrt(static_cast<double>(batches));
  return Refuse("lr_scaling", scaling,
                absl::StrCat("one of ", absl::StrJoin(KnownLearningRateScalings(), ", ")));
}

absl::Status LearningRateConfig::Validate(double base_rate) const {
  const std::vector<std::string>& known = KnownLearningRateSchedules();
  if (std::find(known.begin(), known.end(), schedule) == known.end()) {
    return Refuse("lr_schedule", schedule, absl::StrCat("one of ", absl::StrJoin(known, ", ")));
  }
  if (warmup_steps < 0) return Refuse("lr_warmup_steps", warmup_steps, "at least 0");
  const std::string with_it = absl::StrCat("0 with --lr_schedule=", schedule, "; it is of ");
  if (schedule != "step" && decay_steps != 0) {
    return Refuse("lr_decay_steps", decay_steps, absl::StrCat(with_it, "step"));
  }
  if (schedule != "cosine" && total_steps != 0) {
    return Refuse("lr_total_steps", total_steps, absl::StrCat(with_it, "cosine"));
  }
  if (schedule != "cosine" && final_rate != 0) {
    return Refuse("lr_final", final_rate, absl::StrCat(with_it, "cosine"));
  }
  if (schedule == "step") return ValidateStep(*this);
  if (schedule == "cosine") return ValidateCosine(*this, base_rate);
  return absl::OkStatus();
}

absl::StatusOr<LearningRateSchedule> LearningRateSchedule::Create(const LearningRateConfig& config,
                                                                  double base_rate) {
  RINGSIDE_RETURN_IF_ERROR(config.Validate(base_rate));
  return LearningRateSchedule(config, base_rate);
}

LearningRateSchedule::LearningRateSchedule(const LearningRateConfig& config, double base_rate)
    : decay_(config.schedule == "step"     ? Decay::kStep
             : config.schedule == "cosine" ? Decay::kCosine
                                           : Decay::kConstant),
      base_rate_(base_rate),
      warmup_steps_(config.warmup_steps),
      decay_steps_(config.decay_steps),
      decay_factor_(config.decay_factor),
      total_steps_(config.total_steps),
      final_rate_(config.final_rate) {}

double LearningRateSchedule::At(int64_t step) const {
  RINGSIDE_CHECK(step >= 1);
  const double decayed = Decayed(step);
  if (step >= warmup_steps_) return decayed;
  return decayed * (static_cast<double>(step) / static_cast<double>(warmup_steps_));
}

double LearningRateSchedule::Decayed(int64_t step) const {
  if (decay_ == Decay::kConstant) return base_rate_;
  if (decay_ == Decay::kStep) {
    const int64_t drops = (step - 1) / decay_steps_;
    return base_rate_ * std::pow(decay_factor_, static_cast<double>(drops));
  }
  const int64_t length = total_steps_ - warmup_steps_;
  const int64_t done = std::max<int64_t>(0, step - 1 - warmup_steps_);
  if (done >= length) return final_rate_;
  const double angle = kPi * static_cast<double>(done) / static_cast<double>(length);
  return final_rate_ + (base_rate_ - final_rate_) / 2 * (1 + std::cos(angle));
}

}  // namespace ringside
