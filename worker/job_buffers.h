// A worker process's copy of the model's buffers (model_buffers.h) during a job, from where
// checkpoints and hashes take them, and what all ranks make of theirs when training ends.
//
// Thread-compatible: the training thread's.
#ifndef RINGSIDE_WORKER_JOB_BUFFERS_H_
#define RINGSIDE_WORKER_JOB_BUFFERS_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/coordinator/coordinator_client.h"
#include "worker/model_buffers.h"
#include "worker/models/model.h"
#include "worker/trainer.h"
#include "worker/worker_config.h"

namespace ringside {

class JobBuffers {
 public:
  // As `model` has them. INVALID_ARGUMENT: --buffers asks for what checkpoints cannot hold; others
  // are the model's.
  static absl::StatusOr<std::unique_ptr<JobBuffers>> Create(const WorkerConfig& config,
                                                            const Model& model);

  // As last noted; at the same place for as long as this object. May be empty.
  BufferValues* values() { return &values_; }

  // Takes those of the first rank that this process plays.
  absl::Status Note(const Trainer& trainer);

  // After training, all ranks: does what --buffers asks for, and notes what has come of it.
  // `client`: null where this process is the whole job.
  absl::Status Merge(CoordinatorClient* client, Trainer* trainer);

 private:
  JobBuffers(const WorkerConfig& config, BufferValues values)
      : config_(config), values_(std::move(values)) {}

  // Of all ranks, or of rank 0 alone.
  absl::StatusOr<std::vector<BufferValues>> Gather(bool of_all, CoordinatorClient* client,
                                                   const Trainer& trainer) const;

  const WorkerConfig config_;
  BufferValues values_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_JOB_BUFFERS_H_
