#include "worker/evaluation.h"

#include <algorithm>
#include <cmath>
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

ReducibleSums ToReducible(const EvaluationSums& sums, const SampleShape& shape) {
  ReducibleSums numbers;
  numbers.integers = {sums.correct, sums.samples, sums.labels};
  numbers.doubles = {sums.loss, sums.label_loss};
  if (shape.labels != SampleShape::Labels::kPerPixel) return numbers;
  for (std::vector<int64_t> by_class : {sums.intersections, sums.unions}) {
    by_class.resize(shape.classes);  // empty where nothing was evaluated
    numbers.integers.insert(numbers.integers.end(), by_class.begin(), by_class.end());
  }
  return numbers;
}

Evaluation EvaluationOf(const ReducibleSums& sums, const SampleShape& shape) {
  Evaluation evaluation;
  evaluation.set_correct(sums.integers[0]);
  evaluation.set_samples(sums.integers[1]);
  evaluation.set_labels(sums.integers[2]);
  const auto labels = static_cast<double>(std::max<int64_t>(1, evaluation.labels()));
  evaluation.set_accuracy(static_cast<double>(evaluation.correct()) / labels);
  evaluation.set_mean_loss(sums.doubles[0] / static_cast<double>(evaluation.samples()));
  if (shape.labels == SampleShape::Labels::kPerToken) {
    evaluation.set_perplexity(std::exp(sums.doubles[1] / labels));
  }
  if (shape.labels != SampleShape::Labels::kPerPixel) return evaluation;
  int classes = 0;  // that occur
  double sum = 0;
  for (int64_t i = 0; i < shape.classes; ++i) {
    const int64_t together = sums.integers[3 + shape.classes + i];
    if (together == 0) continue;
    ++classes;
    sum += static_cast<double>(sums.integers[3 + i]) / static_cast<double>(together);
  }
  if (classes > 0) evaluation.set_mean_iou(sum / classes);
  return evaluation;
}

}  // namespace ringside
