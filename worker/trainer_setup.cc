#include "worker/trainer_setup.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/config/stragglers.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/status_macros.h"
#include "worker/model_buffers.h"
#include "worker/models/torch_runtime.h"
#include "worker/synchronizer_factory.h"

namespace ringside {
namespace {

absl::Duration SteadyClock() { return MonotonicNow() - absl::UnixEpoch(); }

// INVALID_ARGUMENT: --stragglers cannot be read. Empty: nobody is slow.
absl::StatusOr<std::function<void(int64_t step, int rank)>> StraggleAs(const JobConfig& job) {
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<Straggler> slow, ParseStragglers(job.stragglers));
  if (slow.empty()) return std::function<void(int64_t step, int rank)>();
  return std::function<void(int64_t step, int rank)>(
      [slow](int64_t step, int rank) { absl::SleepFor(DelayOf(slow, rank, step)); });
}

RankPlayer::Scale ScaleFor(const JobConfig& job) {
  using Scale = RankPlayer::Scale;
  if (!job.uses_servers()) return Scale::kShareOfGlobalBatch;
  if (job.ps_policy().is_asynchronous()) return Scale::kOwnMean;
  return job.ps_policy().mode == PsMode::kBackup ? Scale::kShareOfFullBatch
                                                 : Scale::kShareOfGlobalBatch;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Trainer>> MakeTrainer(const WorkerConfig& config,
                                                     const Workload& workload, TraceBuffer* trace) {
  const JobConfig& job = config.job;
  Trainer::Config trainer;
  trainer.player.world_size = job.workers;
  trainer.player.global_batch_size = job.global_batch_size();
  trainer.player.seed = job.seed;
  trainer.player.accumulate = job.accumulate;
  trainer.player.scale = ScaleFor(job);
  trainer.player.overlap = job.overlap;
  trainer.player.gradient_placement = SynchronizerFactory::GradientPlacement(config);
  trainer.player.clock = SteadyClock;
  trainer.player.trace = trace;
  RINGSIDE_ASSIGN_OR_RETURN(trainer.player.straggle, StraggleAs(job));
  trainer.player.data_threads = job.data_threads;
  trainer.hosted_ranks = config.hosted_ranks();
  trainer.steps = job.steps;
  trainer.epochs = job.epochs;
  trainer.restores_buffers =
      job.on_nonfinite == "skip" && !BufferValues::For(*workload.model()).empty();
  trainer.set_up_thread = [threads = job.threads] { return ConfigureTorch(threads).status(); };
  std::vector<Model*> models;
  for (const auto& model : workload.models) models.push_back(model.get());
  return Trainer::Create(std::move(trainer), workload.training.get(), workload.plan.get(), models);
}

}  // namespace ringside
