// From scores and labels to a loss and to the sums of an evaluation.
#ifndef RINGSIDE_WORKER_MODELS_SCORING_H_
#define RINGSIDE_WORKER_MODELS_SCORING_H_

#include <torch/torch.h>

#include "worker/models/batch.h"

namespace ringside {

// `scores` as in Scores, `labels` of the same shape without the classes. The mean over the samples
// of the mean cross-entropy over the labels of a sample that are not ignored; a sample whose labels
// are all ignored has the loss 0 and counts as a sample.
torch::Tensor MeanLoss(const torch::Tensor& scores, const torch::Tensor& labels,
                       const SampleShape& shape);

EvaluationSums Evaluation(const torch::Tensor& scores, const torch::Tensor& labels,
                          const SampleShape& shape);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_SCORING_H_
