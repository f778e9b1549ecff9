// What TensorBoard shows of a run: written by rank 0 as event files.
//
// Tags:
//   loss/rank0_mean                 each step: mean over rank 0's own samples, an estimate of the
//                                   global loss. Nothing is communicated for it.
//   loss/global_batch               mean over the samples of all ranks: each step where this
//                                   process plays all of them, else all steps at the end, from the
//                                   records that the ranks hand in then
//   learning_rate                   each step; not in modes in which workers are not in step,
//                                   where a shard counts its own updates
//   throughput/samples_per_s        each step: of all ranks, at rank 0's step time; where workers
//                                   are not in step throughput/rank0_samples_per_s, its own
//   time/step_s, time/exposed_communication_s      each step, of rank 0
//   test/accuracy, test/mean_loss   at the end, of the final parameters
//
// Thread-compatible.
#ifndef RINGSIDE_WORKER_TRAINING_EVENTS_H_
#define RINGSIDE_WORKER_TRAINING_EVENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/config/job_config.h"
#include "common/learning_rate.h"
#include "results.pb.h"
#include "worker/event_writer.h"

namespace ringside {

class TrainingEvents {
 public:
  // A new file in the job's tensorboard_dir, which exists. `now`, here and below: the current time.
  // INVALID_ARGUMENT: it cannot be made there.
  static absl::StatusOr<std::unique_ptr<TrainingEvents>> Create(const JobConfig& job,
                                                                absl::Time now);

  // A step that is told again, or that is not later than the one before, takes the place of what
  // was told of it and of later ones. DATA_LOSS, here and in OnEnd: the file cannot be written.
  absl::Status OnStep(const StepRecord& record, absl::Time now);
  // Tells what is known at the end alone, and closes the file.
  absl::Status OnEnd(const RunResult& run, absl::Time now);

 private:
  TrainingEvents(const JobConfig& job, LearningRateSchedule learning_rate,
                 std::unique_ptr<EventWriter> writer);

  // Constant after construction.
  const bool plays_all_ranks_;
  const bool in_step_;
  const LearningRateSchedule learning_rate_;

  const std::unique_ptr<EventWriter> writer_;
  int64_t last_step_ = 0;
  std::map<int64_t, absl::Time> ended_at_;  // by step: for what is told of it at the end
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_TRAINING_EVENTS_H_
