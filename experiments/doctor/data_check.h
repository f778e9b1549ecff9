// Whether a job would find its data: asks the very code that workers load it with.
#ifndef RINGSIDE_EXPERIMENTS_DOCTOR_DATA_CHECK_H_
#define RINGSIDE_EXPERIMENTS_DOCTOR_DATA_CHECK_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/config/job_config.h"

namespace ringside {

// Loads the training and test set of the job, whose data flags are all that counts, and says what
// they are: "mnist in data/mnist10k: 10000 training samples, 2000 test samples, images of ...".
// Takes as long and as much memory as a worker's loading. Errors are LoadDatasets'.
absl::StatusOr<std::string> CheckDataOf(const JobConfig& job);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DOCTOR_DATA_CHECK_H_
