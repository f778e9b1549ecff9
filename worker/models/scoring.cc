#include "worker/models/scoring.h"

#include <vector>

namespace ringside {
namespace {

namespace F = torch::nn::functional;

// By label, [samples, labels a sample]; 0 where it is ignored.
torch::Tensor LabelLosses(const torch::Tensor& scores, const torch::Tensor& labels,
                          const SampleShape& shape) {
  const auto options =
      F::CrossEntropyFuncOptions().ignore_index(shape.ignored_label()).reduction(torch::kNone);
  if (shape.labels == SampleShape::Labels::kPerToken) {
    return F::cross_entropy(scores.flatten(0, 1), labels.flatten(), options).view(labels.sizes());
  }
  return F::cross_entropy(scores, labels, options).flatten(1);
}

// What each label counts in the sum over the samples, [samples, labels a sample].
torch::Tensor LabelWeights(const torch::Tensor& labels, const SampleShape& shape) {
  const torch::Tensor counted = labels.ne(shape.ignored_label()).flatten(1).to(torch::kFloat32);
  return counted / counted.sum(1, /*keepdim=*/true).clamp_min_(1);
}

std::vector<int64_t> CountByClass(const torch::Tensor& values, int64_t classes) {
  const torch::Tensor counts = torch::bincount(values, {}, classes);
  const auto* begin = counts.data_ptr<int64_t>();
  return {begin, begin + classes};
}

// Ignored pixels are in neither set of a class.
void CountOverlap(const torch::Tensor& predicted, const torch::Tensor& labels,
                  const SampleShape& shape, int64_t classes, EvaluationSums* sums) {
  const torch::Tensor counted = labels.ne(shape.ignored_label());
  const torch::Tensor truth = labels.masked_select(counted);
  const torch::Tensor guess = predicted.masked_select(counted);
  sums->intersections = CountByClass(truth.masked_select(truth.eq(guess)), classes);
  sums->unions = CountByClass(truth, classes);
  const std::vector<int64_t> guesses = CountByClass(guess, classes);
  for (int64_t i = 0; i < classes; ++i) sums->unions[i] += guesses[i] - sums->intersections[i];
}

}  // namespace

torch::Tensor MeanLoss(const torch::Tensor& scores, const torch::Tensor& labels,
                       const SampleShape& shape) {
  if (shape.labels == SampleShape::Labels::kPerSample) return F::cross_entropy(scores, labels);
  const torch::Tensor weights = LabelWeights(labels, shape) / labels.size(0);
  return (LabelLosses(scores, labels, shape) * weights).sum();
}

EvaluationSums Evaluation(const torch::Tensor& scores, const torch::Tensor& labels,
                          const SampleShape& shape) {
  EvaluationSums sums;
  sums.samples = labels.size(0);
  const bool per_token = shape.labels == SampleShape::Labels::kPerToken;
  const torch::Tensor predicted = scores.argmax(per_token ? 2 : 1);
  if (shape.labels == SampleShape::Labels::kPerSample) {
    const auto sum = F::CrossEntropyFuncOptions().reduction(torch::kSum);
    sums.correct = predicted.eq(labels).sum().item<int64_t>();
    sums.loss = F::cross_entropy(scores, labels, sum).item<float>();
    sums.labels = sums.samples;
    sums.label_loss = sums.loss;
    return sums;
  }
  const torch::Tensor losses = LabelLosses(scores, labels, shape).to(torch::kFloat64);
  // What is predicted is never the ignored label: argmax stays below the number of classes.
  sums.correct = predicted.eq(labels).sum().item<int64_t>();
  sums.loss = (losses * LabelWeights(labels, shape)).sum().item<double>();
  sums.labels = labels.ne(shape.ignored_label()).sum().item<int64_t>();
  sums.label_loss = losses.sum().item<double>();
  if (shape.labels == SampleShape::Labels::kPerPixel) {
    CountOverlap(predicted, labels, shape, scores.size(1), &sums);
  }
  return sums;
}

}  // namespace ringside
