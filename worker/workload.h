// What a worker computes with: data, model and bucket plan, all checked before anybody is met.
#ifndef RINGSIDE_WORKER_WORKLOAD_H_
#define RINGSIDE_WORKER_WORKLOAD_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "common/bucket_plan.h"
#include "common/config/job_config.h"
#include "coordinator.pb.h"
#include "worker/data/dataset.h"
#include "worker/data/dataset_factory.h"
#include "worker/models/model.h"
#include "worker/trainer.h"

namespace ringside {

struct Workload {
  std::unique_ptr<const Dataset> training;
  std::unique_ptr<const Dataset> test;  // where the job evaluates, else null
  // Of the data, what all workers must have in common beside the job's settings.
  std::map<std::string, std::string> data_settings;
  // What rank 0 makes of the data for all ranks; Dataset::Fetch is for after.
  absl::optional<SharedData> shared_data;
  // One, or one for each rank where they are played at once.
  std::vector<std::unique_ptr<Model>> models;
  // At a fixed address, because the trainer refers to it.
  std::unique_ptr<const BucketPlan> plan;
  std::map<std::string, std::string> facts;  // of LibTorch and BLAS

  // Any of them: they differ in nothing.
  Model* model() const { return models.front().get(); }

  // Configures LibTorch for the calling thread, reads the data, makes the model. NOT_FOUND and
  // INVALID_ARGUMENT: bad data files, an unknown model, more shards than the model has elements.
  // `rank`: the first that this process plays.
  static absl::StatusOr<std::unique_ptr<Workload>> Load(const JobConfig& job, int rank);
};

// What this worker must have in common with the others, for the coordinator to compare: the job's
// shared settings, the hash of the bucket plan, the number of training samples and what else must
// agree of the data, and the list of parameters.
void DescribeWorkload(const JobConfig& job, const Workload& workload, JoinRequest* request);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_WORKLOAD_H_
