// What is said beside a prediction: what it assumes, and where it is far from what was measured.
// Pure.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_NOTES_H_
#define RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_NOTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "experiments/model/failure_estimate.h"
#include "experiments/model/prediction.h"
#include "experiments/model/step_job.h"
#include "experiments/model/sweep_points.h"
#include "results.pb.h"

namespace ringside {

// What a prediction was made from. Refers to what its maker owns.
struct PredictionBasis {
  const PredictionRequest& request;
  const std::vector<SweepPoint>& points;  // at least one, to which the model was fitted
  const CostModel& model;
  const StepJob& job;    // without workers and shards
  int64_t elements;      // parameters
  bool shapes_are_even;  // of the tensors no more than their number is known
  const absl::optional<FailureAssumptions>& failures;
};

// Sentences.
std::vector<std::string> Assumptions(const PredictionBasis& basis);
std::vector<std::string> Warnings(const PredictionBasis& basis);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_NOTES_H_
