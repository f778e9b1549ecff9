#include "common/optimizer.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/arena.h"
#include "common/check.h"
#include "common/lars.h"
#include "common/status_macros.h"
#include "common/vectorize.h"

// Scalars are worked out in double and then rounded to float, elements are computed in float
// throughout: as LibTorch does on a CPU. The loops have no branches, so that the compiler
// vectorizes them; that changes no rounding.

namespace ringside {
namespace {

absl::Status Refuse(absl::string_view flag, double value, absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", value, ": must be ", allowed));
}

// False for NaN as well.
bool InHalfOpenUnit(double value) { return value >= 0 && value < 1; }

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerConfig& config, int64_t elements, std::unique_ptr<Arena> velocity)
      : Optimizer(elements),
        momentum_(static_cast<float>(config.momentum)),
        weight_decay_(static_cast<float>(config.weight_decay)),
        nesterov_(config.nesterov),
        velocity_(std::move(velocity)) {}

  void ApplyRange(int64_t /*step*/, double learning_rate, int64_t begin,
                  absl::Span<const float> gradients, absl::Span<float> parameters) override {
    CheckRange(begin, gradients, parameters);
    const auto rate = static_cast<float>(learning_rate);
    if (velocity_ == nullptr) {
      Plain(rate, gradients, parameters);
      return;
    }
    float* velocity = velocity_->span().subspan(begin, parameters.size()).data();
    nesterov_ ? WithMomentum<true>(rate, gradients, parameters, velocity)
              : WithMomentum<false>(rate, gradients, parameters, velocity);
  }

  std::vector<absl::Span<float>> State() override {
    if (velocity_ == nullptr) return {};
    return {velocity_->span()};
  }

 private:
  void Plain(float rate, absl::Span<const float> gradients, absl::Span<float> parameters) const {
    const float* g = gradients.data();
    float* p = parameters.data();
    const float decay = weight_decay_;
    const size_t n = parameters.size();
    RINGSIDE_INDEPENDENT_ITERATIONS
    for (size_t i = 0; i < n; ++i) p[i] -= rate * (g[i] + decay * p[i]);
  }

  template <bool kNesterov>
  void WithMomentum(float rate, absl::Span<const float> gradients, absl::Span<float> parameters,
                    float* v) const {
    const float* g = gradients.data();
    float* p = parameters.data();
    const float decay = weight_decay_, momentum = momentum_;
    const size_t n = parameters.size();
    RINGSIDE_INDEPENDENT_ITERATIONS
    for (size_t i = 0; i < n; ++i) {
      const float d = g[i] + decay * p[i];
      v[i] = momentum * v[i] + d;
      p[i] -= rate * (kNesterov ? d + momentum * v[i] : v[i]);
    }
  }

  const float momentum_;
  const float weight_decay_;
  const bool nesterov_;
  const std::unique_ptr<Arena>
      velocity_;  // null without momentum; starts at zero, so step 1 sets it to the gradient
};

// Adam, and AdamW where the decay is decoupled.
class Adam final : public Optimizer {
 public:
  Adam(const OptimizerConfig& config, int64_t elements, std::unique_ptr<Arena> mean,
       std::unique_ptr<Arena> square)
      : Optimizer(elements),
        config_(config),
        decoupled_(config.name == "adamw"),
        mean_(std::move(mean)),
        square_(std::move(square)) {}

  void ApplyRange(int64_t step, double learning_rate, int64_t begin,
                  absl::Span<const float> gradients, absl::Span<float> parameters) override {
    RINGSIDE_CHECK(step >= 1);
    CheckRange(begin, gradients, parameters);
    const double t = static_cast<double>(step);
    const double correction1 = 1 - std::pow(config_.beta1, t);
    const double correction2 = 1 - std::pow(config_.beta2, t);
    const float rate = static_cast<float>(learning_rate / correction1);
    const float root = static_cast<float>(std::sqrt(correction2));
    const float epsilon = static_cast<float>(config_.epsilon);
    const float beta1 = static_cast<float>(config_.beta1);
    const float beta2 = static_cast<float>(config_.beta2);
    const float rest1 = static_cast<float>(1 - config_.beta1);
    const float rest2 = static_cast<float>(1 - config_.beta2);
    const float decay = decoupled_ ? 0.0f : static_cast<float>(config_.weight_decay);
    const float keep =
        decoupled_ ? static_cast<float>(1 - learning_rate * config_.weight_decay) : 1.0f;
    const float* gradient = gradients.data();
    float* p = parameters.data();
    const size_t n = parameters.size();
    float* m = mean_->span().subspan(begin, n).data();
    float* s = square_->span().subspan(begin, n).data();
    RINGSIDE_INDEPENDENT_ITERATIONS
    for (size_t i = 0; i < n; ++i) {
      const float g = gradient[i] + decay * p[i];
      m[i] = beta1 * m[i] + rest1 * g;
      s[i] = beta2 * s[i] + rest2 * (g * g);
      p[i] = keep * p[i] - rate * (m[i] / (std::sqrt(s[i]) / root + epsilon));
    }
  }

  std::vector<absl::Span<float>> State() override { return {mean_->span(), square_->span()}; }

 private:
  const OptimizerConfig config_;
  const bool decoupled_;
  const std::unique_ptr<Arena> mean_;    // of the gradients, exponentially weighted
  const std::unique_ptr<Arena> square_;  // of their squares
};

}  // namespace

absl::Status OptimizerConfig::Validate() const {
  if (name != "sgd" && name != "adam" && name != "adamw" && name != "lars") {
    return absl::InvalidArgumentError(
        absl::StrCat("--optimizer=", name, ": must be one of sgd, adam, adamw, lars"));
  }
  if (!(learning_rate > 0) || !std::isfinite(learning_rate)) {
    return Refuse("learning_rate", learning_rate, "positive and finite");
  }
  if (!InHalfOpenUnit(momentum)) return Refuse("momentum", momentum, "at least 0 and less than 1");
  if (momentum != 0 && name != "sgd" && name != "lars") {
    return Refuse("momentum", momentum,
                  absl::StrCat("0 with --optimizer=", name, "; it is of sgd and lars"));
  }
  if (nesterov && momentum == 0) {
    return absl::InvalidArgumentError(
        "--nesterov=true: must be false without --momentum, which is 0");
  }
  if (nesterov && name == "lars") {
    return absl::InvalidArgumentError("--nesterov=true: must be false with --optimizer=lars");
  }
  if (!(weight_decay >= 0) || !std::isfinite(weight_decay)) {
    return Refuse("weight_decay", weight_decay, "at least 0 and finite");
  }
  if (!InHalfOpenUnit(beta1)) return Refuse("beta1", beta1, "at least 0 and less than 1");
  if (!InHalfOpenUnit(beta2)) return Refuse("beta2", beta2, "at least 0 and less than 1");
  if (!(epsilon > 0) || !std::isfinite(epsilon)) {
    return Refuse("epsilon", epsilon, "positive and finite");
  }
  if (!(lars_trust > 0) || !std::isfinite(lars_trust)) {
    return Refuse("lars_trust", lars_trust, "positive and finite");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Optimizer>> Optimizer::Create(const OptimizerConfig& config,
                                                             int64_t elements) {
  RINGSIDE_RETURN_IF_ERROR(config.Validate());
  if (elements < 0) {
    return absl::InvalidArgumentError(absl::StrCat("an optimizer for ", elements, " elements"));
  }
  if (config.name == "lars") {
    return absl::InvalidArgumentError(
        "--optimizer=lars: needs whole parameters, and a range of elements was given");
  }
  const auto make_state = [&] { return Arena::Create(elements, Arena::Placement::kHeap); };
  if (config.name == "sgd") {
    std::unique_ptr<Arena> velocity;
    if (config.momentum != 0) {
      RINGSIDE_ASSIGN_OR_RETURN(velocity, make_state());
    }
    return std::make_unique<Sgd>(config, elements, std::move(velocity));
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> mean, make_state());
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> square, make_state());
  return std::make_unique<Adam>(config, elements, std::move(mean), std::move(square));
}

absl::StatusOr<std::unique_ptr<Optimizer>> Optimizer::Create(
    const OptimizerConfig& config, const std::vector<ParameterSpec>& parameters) {
  if (config.name != "lars") return Create(config, TotalElements(parameters));
  RINGSIDE_RETURN_IF_ERROR(config.Validate());
  return Lars::Create(config, parameters);
}

void Optimizer::Apply(int64_t step, double learning_rate, absl::Span<const float> gradients,
                      absl::Span<float> parameters) {
  RINGSIDE_CHECK(static_cast<int64_t>(parameters.size()) == elements_);
  ApplyRange(step, learning_rate, 0, gradients, parameters);
}

void Optimizer::CheckRange(int64_t begin, absl::Span<const float> gradients,
                           absl::Span<const float> parameters) const {
  const auto length = static_cast<int64_t>(parameters.size());
  RINGSIDE_CHECK(gradients.size() == parameters.size());
  RINGSIDE_CHECK(begin >= 0 && begin <= elements_ && length <= elements_ - begin);
}

}  // namespace ringside
