#include "worker/evaluation.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr int64_t kBatch = 250;

}  // namespace

absl::StatusOr<EvaluationSums> EvaluateRange(Model* model, const Dataset& data,
                                             const ElementRange& range) {
  const int64_t largest = std::min(kBatch, range.length);
  std::vector<uint32_t> indices(largest);
  std::vector<float> images(largest * data.image_elements());
  std::vector<int64_t> labels(largest);
  EvaluationSums total;
  for (int64_t begin = range.begin; begin < range.end(); begin += kBatch) {
    const int64_t count = std::min(kBatch, range.end() - begin);
    std::iota(indices.begin(), indices.begin() + count, static_cast<uint32_t>(begin));
    const auto batch_images = absl::MakeSpan(images).subspan(0, count * data.image_elements());
    const auto batch_labels = absl::MakeSpan(labels).subspan(0, count);
    data.Fetch(absl::MakeConstSpan(indices).subspan(0, count), batch_images, batch_labels);
    RINGSIDE_ASSIGN_OR_RETURN(const EvaluationSums sums,
                              model->Evaluate({batch_images, batch_labels}));
    total.Add(sums);
  }
  return total;
}

}  // namespace ringside
