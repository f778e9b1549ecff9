#include "worker/synchronizers/whole_update.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/check.h"
#include "common/gradient_norm.h"

namespace ringside {
namespace {

// 64 KiB of gradients: what is read twice is read from a second-level cache.
constexpr size_t kBlockElements = 16 << 10;

// Calls act(begin, length) block by block; stops and returns false where it does.
template <typename Act>
bool ForEachBlock(size_t elements, Act act) {
  for (size_t at = 0; at < elements; at += kBlockElements) {
    if (!act(at, std::min(kBlockElements, elements - at))) return false;
  }
  return true;
}

}  // namespace

WholeUpdate::WholeUpdate(const Config& config, const BucketPlan* plan, Optimizer* optimizer)
    : config_(config),
      plan_(plan),
      optimizer_(optimizer),
      norms_(plan->num_parameters()),
      scaled_(config.clip_norm > 0 ? kBlockElements : 0) {}

bool WholeUpdate::Apply(int64_t update, double learning_rate, absl::Span<const float> sums,
                        absl::Span<float> parameters) {
  RINGSIDE_CHECK(sums.size() == parameters.size());
  if (!config_.all_or_nothing && config_.clip_norm == 0 && !optimizer_->needs_norms()) {
    return CheckAndApplyByBlocks(update, learning_rate, sums, parameters);
  }
  double square = 0;
  for (int i = 0; i < plan_->num_parameters(); ++i) {
    const ElementRange& range = plan_->parameter(i);
    norms_[i] = SumOfSquares(sums.subspan(range.begin, range.length));
    square += norms_[i];
  }
  if (!std::isfinite(square)) return false;
  const double norm = std::sqrt(square);
  const bool clip = config_.clip_norm > 0 && norm > config_.clip_norm;
  const float scale = clip ? static_cast<float>(config_.clip_norm / norm) : 1.0f;
  if (optimizer_->needs_norms()) {
    for (double& value : norms_) value = std::sqrt(value) * static_cast<double>(scale);
    optimizer_->Prepare(norms_, parameters);
  }
  ApplyScaled(update, learning_rate, scale, sums, parameters);
  return true;
}

bool WholeUpdate::CheckAndApplyByBlocks(int64_t update, double learning_rate,
                                        absl::Span<const float> sums,
                                        absl::Span<float> parameters) {
  return ForEachBlock(sums.size(), [&](size_t begin, size_t length) {
    const absl::Span<const float> block = sums.subspan(begin, length);
    if (!std::isfinite(SumOfSquares(block))) return false;
    optimizer_->ApplyRange(update, learning_rate, static_cast<int64_t>(begin), block,
                           parameters.subspan(begin, length));
    return true;
  });
}

void WholeUpdate::ApplyScaled(int64_t update, double learning_rate, float scale,
                              absl::Span<const float> sums, absl::Span<float> parameters) {
  if (scale == 1) return optimizer_->ApplyRange(update, learning_rate, 0, sums, parameters);
  ForEachBlock(sums.size(), [&](size_t begin, size_t length) {
    const absl::Span<float> block = absl::MakeSpan(scaled_).first(length);
    Scale(scale, sums.subspan(begin, length), block);
    optimizer_->ApplyRange(update, learning_rate, static_cast<int64_t>(begin), block,
                           parameters.subspan(begin, length));
    return true;
  });
}

}  // namespace ringside
