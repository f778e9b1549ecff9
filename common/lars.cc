#include "common/lars.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/memory/memory.h"
#include "common/check.h"
#include "common/gradient_norm.h"
#include "common/status_macros.h"
#include "common/vectorize.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<Optimizer>> Lars::Create(
    const OptimizerConfig& config, const std::vector<ParameterSpec>& parameters) {
  std::vector<Layer> layers;
  int64_t elements = 0;
  for (const ParameterSpec& parameter : parameters) {
    layers.push_back({{elements, parameter.elements()}, parameter.shape.size() > 1});
    elements += parameter.elements();
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> velocity,
                            Arena::Create(elements, Arena::Placement::kHeap));
  return absl::WrapUnique(new Lars(config, std::move(layers), std::move(velocity)));
}

Lars::Lars(const OptimizerConfig& config, std::vector<Layer> layers,
           std::unique_ptr<Arena> velocity)
    : Optimizer(static_cast<int64_t>(velocity->span().size())),
      trust_(config.lars_trust),
      decay_(config.weight_decay),
      epsilon_(config.epsilon),
      momentum_(static_cast<float>(config.momentum)),
      layers_(std::move(layers)),
      velocity_(std::move(velocity)) {}

void Lars::Apply(int64_t step, double learning_rate, absl::Span<const float> gradients,
                 absl::Span<float> parameters) {
  CheckRange(0, gradients, parameters);
  std::vector<double> norms;
  for (const Layer& layer : layers_) {
    norms.push_back(
        std::sqrt(SumOfSquares(gradients.subspan(layer.range.begin, layer.range.length))));
  }
  Prepare(norms, parameters);
  ApplyRange(step, learning_rate, 0, gradients, parameters);
}

void Lars::Prepare(absl::Span<const double> gradient_norms, absl::Span<const float> parameters) {
  RINGSIDE_CHECK(gradient_norms.size() == layers_.size());
  RINGSIDE_CHECK(static_cast<int64_t>(parameters.size()) == elements());
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    if (!layer.adapted) continue;
    const double gradient = gradient_norms[i];
    const double weight =
        std::sqrt(SumOfSquares(parameters.subspan(layer.range.begin, layer.range.length)));
    const bool usable = weight > 0 && gradient > 0;
    layer.local = usable ? trust_ * weight / (gradient + decay_ * weight + epsilon_) : 1;
  }
}

void Lars::ApplyRange(int64_t /*step*/, double learning_rate, int64_t begin,
                      absl::Span<const float> gradients, absl::Span<float> parameters) {
  CheckRange(begin, gradients, parameters);
  const ElementRange all{begin, static_cast<int64_t>(parameters.size())};
  auto layer = std::partition_point(layers_.begin(), layers_.end(), [&](const Layer& candidate) {
    return candidate.range.end() <= all.begin;
  });
  for (; layer != layers_.end() && layer->range.begin < all.end(); ++layer) {
    const ElementRange part = Intersect(layer->range, all);
    ApplyToLayer(*layer, learning_rate, part, gradients.data() + (part.begin - begin),
                 parameters.data() + (part.begin - begin));
  }
}

void Lars::ApplyToLayer(const Layer& layer, double learning_rate, ElementRange part, const float* g,
                        float* p) {
  const auto rate = static_cast<float>(learning_rate * layer.local);
  const float decay = layer.adapted ? static_cast<float>(decay_) : 0.0f;
  const float momentum = momentum_;
  float* v = velocity_->span().data() + part.begin;
  const auto n = static_cast<size_t>(part.length);
  RINGSIDE_INDEPENDENT_ITERATIONS
  for (size_t i = 0; i < n; ++i) {
    v[i] = momentum * v[i] + rate * (g[i] + decay * p[i]);
    p[i] -= v[i];
  }
}

}  // namespace ringside
