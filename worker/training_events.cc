#include "worker/training_events.h"

#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "common/status_macros.h"
#include "worker/global_loss.h"

namespace ringside {
namespace {

bool WorkersAreInStep(const JobConfig& job) {
  return !job.uses_servers() || !job.ps_policy().is_asynchronous();
}

}  // namespace

absl::StatusOr<std::unique_ptr<TrainingEvents>> TrainingEvents::Create(const JobConfig& job,
                                                                       absl::Time now) {
  RINGSIDE_ASSIGN_OR_RETURN(
      LearningRateSchedule learning_rate,
      LearningRateSchedule::Create(job.lr_schedule(), job.scaled_optimizer().learning_rate));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<EventWriter> writer,
                            EventWriter::Create(job.tensorboard_dir, now));
  return absl::WrapUnique(new TrainingEvents(job, std::move(learning_rate), std::move(writer)));
}

TrainingEvents::TrainingEvents(const JobConfig& job, LearningRateSchedule learning_rate,
                               std::unique_ptr<EventWriter> writer)
    : plays_all_ranks_(job.worker_processes() == 1),
      in_step_(WorkersAreInStep(job)),
      learning_rate_(std::move(learning_rate)),
      writer_(std::move(writer)) {}

absl::Status TrainingEvents::OnStep(const StepRecord& record, absl::Time now) {
  const int64_t step = record.step();
  // Also before the first step: another run, which this one may resume, may have left its files.
  if (ended_at_.empty() || step <= last_step_) {
    RINGSIDE_RETURN_IF_ERROR(writer_->Restart(step, now));
    ended_at_.erase(ended_at_.lower_bound(step), ended_at_.end());
  }
  last_step_ = step;
  ended_at_[step] = now;
  std::vector<EventWriter::Scalar> scalars;
  if (record.samples() > 0) {
    const double share =
        static_cast<double>(record.global_samples()) / static_cast<double>(record.samples());
    scalars.push_back(
        {plays_all_ranks_ ? "loss/global_batch" : "loss/rank0_mean", record.loss() * share});
  }
  if (in_step_) scalars.push_back({"learning_rate", learning_rate_.At(step)});
  if (record.step_s() > 0) {
    const int64_t samples = in_step_ ? record.global_samples() : record.samples();
    scalars.push_back({in_step_ ? "throughput/samples_per_s" : "throughput/rank0_samples_per_s",
                       static_cast<double>(samples) / record.step_s()});
  }
  scalars.push_back({"time/step_s", record.step_s()});
  scalars.push_back({"time/exposed_communication_s", record.exposed_comm_s()});
  return writer_->Append(step, now, scalars);
}

absl::Status TrainingEvents::OnEnd(const RunResult& run, absl::Time now) {
  if (!plays_all_ranks_) {
    for (const GlobalLoss& loss : GlobalLosses(run)) {
      const auto ended = ended_at_.find(loss.step);
      const absl::Time at = ended == ended_at_.end() ? now : ended->second;
      RINGSIDE_RETURN_IF_ERROR(writer_->Append(loss.step, at, {{"loss/global_batch", loss.loss}}));
    }
  }
  if (run.has_evaluation()) {
    RINGSIDE_RETURN_IF_ERROR(writer_->Append(last_step_, now,
                                             {{"test/accuracy", run.evaluation().accuracy()},
                                              {"test/mean_loss", run.evaluation().mean_loss()}}));
  }
  return writer_->Close();
}

}  // namespace ringside
