// Evaluates a model on a range of samples.
#ifndef RINGSIDE_WORKER_EVALUATION_H_
#define RINGSIDE_WORKER_EVALUATION_H_

#include "absl/status/statusor.h"
#include "common/element_range.h"
#include "worker/data/dataset.h"
#include "worker/models/model.h"

namespace ringside {

// Over the samples `range` of `data`, in batches of a size that depends on their shape alone: the
// same range gives the same bits. Sums over ranks are for the caller. Errors are the model's and
// the data set's.
absl::StatusOr<EvaluationSums> EvaluateRange(Model* model, const Dataset& data,
                                             const ElementRange& range);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_EVALUATION_H_
