#include "worker/evaluation.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "common/status_macros.h"
#include "worker/data/batch_buffer.h"

namespace ringside {
namespace {

constexpr int64_t kMostSamples = 250;
// Floats, of the images or of the scores, whichever are more: keeps memory small where samples are
// large.
constexpr int64_t kMostElements = int64_t{1} << 22;

int64_t BatchFor(const SampleShape& shape) {
  const int64_t scores = shape.label_elements() * shape.classes;
  const int64_t elements = std::max({int64_t{1}, shape.input_elements(), scores});
  return std::min(kMostSamples, std::max<int64_t>(1, kMostElements / elements));
}

}  // namespace

absl::StatusOr<EvaluationSums> EvaluateRange(Model* model, const Dataset& data,
                                             const ElementRange& range) {
  const int64_t batch = BatchFor(data.sample_shape());
  const int64_t largest = std::min(batch, range.length);
  std::vector<uint32_t> indices(largest);
  BatchBuffer buffer(data.sample_shape(), largest);
  EvaluationSums total;
  for (int64_t begin = range.begin; begin < range.end(); begin += batch) {
    const int64_t count = std::min(batch, range.end() - begin);
    std::iota(indices.begin(), indices.begin() + count, static_cast<uint32_t>(begin));
    RINGSIDE_RETURN_IF_ERROR(
        data.Fetch(absl::MakeConstSpan(indices).subspan(0, count), buffer.spans(count)));
    RINGSIDE_ASSIGN_OR_RETURN(const EvaluationSums sums, model->Evaluate(buffer.batch(count)));
    total.Add(sums);
  }
  return total;
}

}  // namespace ringside
