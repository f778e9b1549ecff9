#include "worker/trainer.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/logging.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// `share`: of the turn's times in the step's. Ranks that play at once share its time.
void Add(const RankPlayer::Turn& turn, double share, StepRecord* record) {
  record->set_epoch(turn.epoch);
  record->set_global_samples(turn.global_samples);
  record->set_samples(record->samples() + turn.samples);
  record->set_loss(record->loss() + turn.loss);
  record->set_data_s(record->data_s() + share * absl::ToDoubleSeconds(turn.data));
  record->set_forward_s(record->forward_s() + share * absl::ToDoubleSeconds(turn.forward));
  record->set_backward_s(record->backward_s() + share * absl::ToDoubleSeconds(turn.backward));
  const int64_t first = absl::ToInt64Nanoseconds(turn.first_ready_at);
  const bool is_first = record->first_ready_at_ns() == 0 || first < record->first_ready_at_ns();
  if (is_first) record->set_first_ready_at_ns(first);
  record->set_ready_at_ns(std::max(record->ready_at_ns(), absl::ToInt64Nanoseconds(turn.ready_at)));
}

// The number of steps of the run.
absl::StatusOr<int64_t> TotalSteps(const Trainer::Config& config, int64_t steps_per_epoch) {
  if ((config.steps > 0) == (config.epochs > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("--steps=", config.steps,
                                                   " and --epochs=", config.epochs,
                                                   ": exactly one of them must be positive"));
  }
  if (config.epochs > INT64_MAX / steps_per_epoch) {
    return absl::InvalidArgumentError(absl::StrCat("--epochs=", config.epochs, ": too many"));
  }
  return config.steps > 0 ? config.steps : config.epochs * steps_per_epoch;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::Create(Config config, const Dataset* data,
                                                         const BucketPlan* plan,
                                                         const std::vector<Model*>& models) {
  if (config.hosted_ranks.empty()) {
    return absl::InvalidArgumentError("a trainer must host at least one rank");
  }
  if (models.size() != 1 && models.size() != config.hosted_ranks.size()) {
    return absl::InvalidArgumentError(absl::StrCat(models.size(), " models for ",
                                                   config.hosted_ranks.size(),
                                                   " ranks: must be one, or one for each"));
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> parameters,
                            Arena::Create(plan->total_elements(), Arena::Placement::kHeap));
  std::vector<std::unique_ptr<RankPlayer>> players;
  for (size_t i = 0; i < models.size(); ++i) {
    RankPlayer::Config own = config.player;
    own.ranks = config.hosted_ranks;
    if (models.size() > 1) own.ranks = {config.hosted_ranks[i]};
    RINGSIDE_ASSIGN_OR_RETURN(
        std::unique_ptr<RankPlayer> player,
        RankPlayer::Create(std::move(own), data, plan, models[i], parameters->span()));
    players.push_back(std::move(player));
  }
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t total_steps,
                            TotalSteps(config, players.front()->steps_per_epoch()));
  auto trainer = absl::WrapUnique(
      new Trainer(std::move(config), std::move(parameters), std::move(players), total_steps));
  if (models.size() > 1) {
    RINGSIDE_ASSIGN_OR_RETURN(
        trainer->threads_,
        RankThreads::Start(static_cast<int>(models.size()), trainer->config_.set_up_thread));
  }
  return trainer;
}

Trainer::Trainer(Config config, std::unique_ptr<Arena> parameters,
                 std::vector<std::unique_ptr<RankPlayer>> players, int64_t total_steps)
    : config_(std::move(config)),
      parameters_(std::move(parameters)),
      players_(std::move(players)),
      total_steps_(total_steps) {}

absl::Status Trainer::Start(GradientSynchronizer* synchronizer) {
  synchronizer_ = synchronizer;
  for (const auto& player : players_) player->Attach(synchronizer);
  return synchronizer->Start(parameters_->span());
}

absl::Status Trainer::Run(const std::function<absl::Status(const StepRecord&)>& on_step) {
  RINGSIDE_CHECK(synchronizer_ != nullptr);
  while (step_ < total_steps_) {
    ++step_;
    StepRecord record;
    RINGSIDE_ASSIGN_OR_RETURN(const int64_t parameters_step, RunStep(&record));
    if (parameters_step >= step_) RINGSIDE_RETURN_IF_ERROR(on_step(record));
    step_ = parameters_step;
  }
  return absl::OkStatus();
}

absl::StatusOr<BufferValues> Trainer::Buffers(int rank) const {
  return PlayerOf(rank)->Buffers(rank);
}

RankPlayer* Trainer::PlayerOf(int rank) const {
  const std::vector<int>& ranks = config_.hosted_ranks;
  const auto place = std::find(ranks.begin(), ranks.end(), rank);
  RINGSIDE_CHECK(place != ranks.end());
  return players_[players_.size() == 1 ? 0 : place - ranks.begin()].get();
}

absl::Status Trainer::SaveBuffers() {
  if (!config_.restores_buffers) return absl::OkStatus();
  saved_buffers_.resize(config_.hosted_ranks.size());
  for (size_t i = 0; i < saved_buffers_.size(); ++i) {
    const int rank = config_.hosted_ranks[i];
    RINGSIDE_RETURN_IF_ERROR(PlayerOf(rank)->CopyBuffers(rank, &saved_buffers_[i]));
  }
  return absl::OkStatus();
}

absl::Status Trainer::RestoreBuffers() {
  for (size_t i = 0; i < saved_buffers_.size(); ++i) {
    const int rank = config_.hosted_ranks[i];
    RINGSIDE_RETURN_IF_ERROR(PlayerOf(rank)->SetBuffersOf(rank, saved_buffers_[i]));
  }
  return absl::OkStatus();
}

absl::Status Trainer::SetBuffers(const BufferValues& values) {
  for (const auto& player : players_) RINGSIDE_RETURN_IF_ERROR(player->SetBuffers(values));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Trainer::RunStep(StepRecord* step_record) {
  StepRecord& record = *step_record;
  record.set_step(step_);
  RINGSIDE_RETURN_IF_ERROR(SaveBuffers());
  const absl::Duration begin = config_.player.clock();
  RINGSIDE_RETURN_IF_ERROR(threads_ == nullptr ? PlayInTurn(&record) : PlayAtOnce(&record));
  RINGSIDE_ASSIGN_OR_RETURN(const StepStats stats, synchronizer_->Finish(step_));
  const absl::Duration end = config_.player.clock();
  record.set_step_s(absl::ToDoubleSeconds(end - begin));
  record.set_ready_s(absl::ToDoubleSeconds(absl::Nanoseconds(record.ready_at_ns()) - begin));
  Trace(begin, end, stats);
  record.set_hidden_comm_s(absl::ToDoubleSeconds(stats.communication.hidden));
  record.set_exposed_comm_s(absl::ToDoubleSeconds(stats.communication.exposed));
  record.set_optimizer_s(absl::ToDoubleSeconds(stats.optimizer));
  record.set_skipped(stats.skipped.empty() ? 0 : 1);
  if (!stats.skipped.empty()) RINGSIDE_RETURN_IF_ERROR(RestoreBuffers());
  if (!stats.skipped.empty() && config_.hosted_ranks.front() == 0) {
    LogWarning(absl::StrCat(stats.skipped, "; no rank applies it"));
  }
  record.set_other_s(record.step_s() - record.data_s() - record.forward_s() - record.backward_s() -
                     record.exposed_comm_s() - record.optimizer_s());
  return stats.parameters_step;
}

void Trainer::Trace(absl::Duration begin, absl::Duration end, const StepStats& stats) const {
  TraceBuffer* const trace = TraceBuffer::If(config_.player.trace, step_);
  if (trace == nullptr) return;
  const auto record = [&](TraceKind kind, absl::Duration from, absl::Duration to) {
    if (from >= to) return;
    trace->Record({kind, step_, /*bucket=*/-1, config_.hosted_ranks.front(),
                   absl::ToInt64Nanoseconds(from), absl::ToInt64Nanoseconds(to)});
  };
  // What Finish did last, it ended with.
  const absl::Duration summed = end - stats.optimizer;
  record(TRACE_STEP, begin, end);
  record(TRACE_WAIT, summed - stats.communication.exposed, summed);
  record(TRACE_OPTIMIZER, summed, end);
}

absl::Status Trainer::PlayInTurn(StepRecord* record) {
  for (int rank : config_.hosted_ranks) {
    RINGSIDE_ASSIGN_OR_RETURN(
        const RankPlayer::Turn turn,
        players_.front()->Play(step_, rank, rank == config_.hosted_ranks.back()));
    Add(turn, 1, record);
  }
  return absl::OkStatus();
}

absl::Status Trainer::PlayAtOnce(StepRecord* record) {
  std::vector<RankPlayer::Turn> turns(players_.size());
  RINGSIDE_RETURN_IF_ERROR(threads_->Run([this, &turns](int i) {
    // None of them can say that it is the last to play.
    auto turn = players_[i]->Play(step_, config_.hosted_ranks[i], /*last=*/false);
    if (turn.ok()) turns[i] = *turn;
    return turn.status();
  }));
  // In the order of ranks, so that the loss has the bits of ranks that play in turn.
  for (const RankPlayer::Turn& turn : turns) {
    Add(turn, 1.0 / static_cast<double>(turns.size()), record);
  }
  return absl::OkStatus();
}

}  // namespace ringside
