// What `ringside compare` is told beyond the settings of a job. Pure.
#ifndef RINGSIDE_EXPERIMENTS_EXPERIMENT_CONFIG_H_
#define RINGSIDE_EXPERIMENTS_EXPERIMENT_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ringside {

struct ExperimentConfig {
  std::vector<std::string> strategies = {"ps", "ring", "local"};
  std::vector<int> worker_counts = {1};
  int trials = 5;  // fewer give intervals that are narrower than they claim to be
  std::string scaling =
      "strong";              // strong: the global batch is fixed; weak: the batch of a rank is
  int64_t global_batch = 0;  // strong; 0: `batch_size` times the largest worker count

  // INVALID_ARGUMENT: names the flag, the value and what is allowed.
  absl::Status Validate() const;

  // Samples per rank with `workers` workers, given what --batch_size says. INVALID_ARGUMENT: the
  // global batch does not divide, names worker counts and global batches that would do.
  absl::StatusOr<int> BatchSize(int batch_size, int workers) const;

 private:
  int64_t GlobalBatch(int batch_size) const;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_EXPERIMENT_CONFIG_H_
