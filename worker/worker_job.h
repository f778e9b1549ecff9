// One worker process's part in a job, from reading the data to the results.
#ifndef RINGSIDE_WORKER_WORKER_JOB_H_
#define RINGSIDE_WORKER_WORKER_JOB_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/coordinator/coordinator_client.h"
#include "results.pb.h"
#include "worker/job_buffers.h"
#include "worker/job_membership.h"
#include "worker/job_trace.h"
#include "worker/step_writer.h"
#include "worker/synchronizer_factory.h"
#include "worker/training_checkpoints.h"
#include "worker/training_events.h"
#include "worker/worker_config.h"
#include "worker/workload.h"

namespace ringside {

// Used once, by one thread, which becomes LibTorch's.
class WorkerJob {
 public:
  // `signals` outlive the job.
  WorkerJob(const WorkerConfig& config, TrainingSignals* signals);

  // Checks all input before anybody is met and before anything is written; then joins, trains,
  // evaluates and leaves the results in `out`. The error is this process's own, or the job's
  // verdict; CANCELLED where it is a signal that has ended the training. Does not return after a
  // verdict that finds the thread in a computation that takes longer than the rest of a lease: then
  // the process ends with status 1.
  absl::Status Run();

 private:
  absl::Status Prepare();
  absl::Status Join();
  // What rank 0 has made of its data for all ranks goes to the others.
  absl::Status ShareData();
  absl::Status TrainAndReport();
  absl::Status Train();
  // Waits until all workers have the initial parameters: all clocks start together, and where the
  // servers update asynchronously nobody changes what another has yet to get.
  absl::Status BeginTogether();
  absl::Status OnStep(StepWriter* steps, const StepRecord& record);
  // Worker 0 does, or may when it is asked to.
  bool saves_training() const;
  absl::StatusOr<Evaluation> Evaluate();
  absl::Status Report();
  // Waits for the last checkpoint, and notes what all of them took.
  absl::Status FinishCheckpoints();
  // Rank 0's, of a run that all ranks have ended.
  absl::Status WriteReport(const std::vector<std::string>& blobs);
  Provenance OwnProvenance() const;
  // Ends the membership; returns what to end with.
  absl::Status Leave(absl::Status status);
  void ReportProgress(const std::string& phase);
  // Null: this process is the whole job.
  CoordinatorClient* client() const {
    return membership_ == nullptr ? nullptr : membership_->client();
  }

  // Constant after construction.
  const WorkerConfig config_;
  TrainingSignals* const signals_;
  const absl::Time started_at_;

  // What is used goes after its users.
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<JobTrace> trace_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<JobBuffers> buffers_;
  std::unique_ptr<TrainingCheckpoints> checkpoints_;
  std::unique_ptr<SynchronizerFactory> factory_;
  std::unique_ptr<GradientSynchronizer> synchronizer_;
  // Made before the synchronizer, which it aborts; null: this process is the whole job.
  std::unique_ptr<JobMembership> membership_;

  std::unique_ptr<TrainingEvents> events_;  // null: not rank 0, or not wanted
  Progress progress_;
  WorkerResult result_;
  absl::Time began_;  // the first step, by MonotonicNow
  ClockAlignment clock_;
  absl::Time last_logged_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_WORKER_JOB_H_
