// Evaluates a model on a range of samples.
#ifndef RINGSIDE_WORKER_EVALUATION_H_
#define RINGSIDE_WORKER_EVALUATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/element_range.h"
#include "results.pb.h"
#include "worker/data/dataset.h"
#include "worker/models/model.h"

namespace ringside {

// Over the samples `range` of `data`, in batches of a size that depends on their shape alone: the
// same range gives the same bits. Sums over ranks are for the caller. Errors are the model's and
// the data set's.
absl::StatusOr<EvaluationSums> EvaluateRange(Model* model, const Dataset& data,
                                             const ElementRange& range);

// The same sums as numbers that add up over ranks, one by one; how many there are depends on the
// shape of the samples alone.
struct ReducibleSums {
  std::vector<int64_t> integers;
  std::vector<double> doubles;
};
ReducibleSums ToReducible(const EvaluationSums& sums, const SampleShape& shape);
// What is reported of the sums over all ranks: accuracy over the labels, and what is usual of the
// kind of data: mean IoU of labels per pixel, perplexity of labels per token.
Evaluation EvaluationOf(const ReducibleSums& sums, const SampleShape& shape);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_EVALUATION_H_
