// `ringside predict` without its flags and files: what larger jobs on other networks would take, by
// a model fitted to the runs of a comparison.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_H_
#define RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "experiments/model/failure_estimate.h"
#include "results.pb.h"

namespace ringside {

// What happens when processes fail: docs/metrics.md, "Failures". Seconds.
struct FailureRequest {
  double mtbf_s = 0;                    // mean time between failures of one process
  double restart_s = 0;                 // from a failure until the job trains again
  absl::optional<double> checkpoint_s;  // that a checkpoint stops training; else as measured
  int64_t checkpoint_steps = 0;         // from one to the next; 0: as many as cost least
};

struct PredictionRequest {
  std::vector<int> workers;
  absl::optional<double> bandwidth_mbit;  // of each host, each way; else as measured
  absl::optional<double> latency_us;      // one way; else as measured
  int shards = 1;                         // on hosts of their own
  // Another model than the runs': by name (PresetShapes), or even tensors of so many parameters.
  // Neither: that of the runs.
  std::string model;
  int64_t parameters = 0;
  absl::optional<double> compute_s;              // of a step of one rank; else as measured
  absl::optional<int64_t> bucket_bytes;          // else as measured
  absl::optional<FailureRequest> failures = {};  // none: nothing fails, nothing is saved
};

struct Prediction {
  // Rows by worker count: ring; ps on hosts of its own; ps with a shard beside each worker.
  Forecast forecast;
  // The same by formula alone, at steps between the fewest and the most workers, ascending.
  std::vector<ForecastRow> curve;
  // Of each row of `forecast`, and of each of `curve`; empty where failures were not asked about.
  std::vector<FailureEstimate> under_failures;
  std::vector<FailureEstimate> curve_under_failures;
  // Between ring and ps on hosts of its own; under failures, where those were asked about.
  std::vector<Crossover> crossovers;
  std::vector<std::string> assumptions;  // sentences
  std::vector<std::string> warnings;     // sentences
};

// "ring", "ps, dedicated" or "ps, colocated".
std::string SeriesOf(const ForecastRow& row);

// FAILED_PRECONDITION: no run to fit to. INVALID_ARGUMENT: no or bad numbers of workers or shards,
// an unknown model, failures of which no cost of a checkpoint is known. Pure and deterministic.
absl::StatusOr<Prediction> Predict(const ComparisonResult& comparison,
                                   const PredictionRequest& request);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_PREDICTION_H_
