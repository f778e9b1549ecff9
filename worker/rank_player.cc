#include "worker/rank_player.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "common/check.h"
#include "common/element_range.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "worker/data/sampler.h"
#include "worker/models/dropout_seed.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<RankPlayer>> RankPlayer::Create(Config config, const Dataset* data,
                                                               const BucketPlan* plan, Model* model,
                                                               absl::Span<float> parameters) {
  RINGSIDE_ASSIGN_OR_RETURN(
      std::unique_ptr<BatchLoader> loader,
      BatchLoader::Create({config.world_size, config.global_batch_size, config.seed,
                           config.accumulate, config.ranks, config.data_threads},
                          data));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> gradients,
                            Arena::Create(plan->total_elements(), config.gradient_placement));
  auto player = absl::WrapUnique(
      new RankPlayer(std::move(config), plan, model, std::move(loader), std::move(gradients)));
  RINGSIDE_RETURN_IF_ERROR(
      model->Bind(parameters, player->gradients_->span(), [self = player.get()](int parameter) {
        self->missing_.Ready(parameter);
        // Without overlap no bucket ever fills, and the flush after backward submits all of them.
        if (self->submitting_ && self->config_.overlap) self->tracker_.ParameterReady(parameter);
      }));
  BufferValues initial = BufferValues::For(*model);
  if (!initial.empty() && player->config_.ranks.size() > 1) {
    RINGSIDE_RETURN_IF_ERROR(ReadBuffers(*model, &initial));
    for (int rank : player->config_.ranks) player->buffers_[rank] = initial;
  }
  return player;
}

RankPlayer::RankPlayer(Config config, const BucketPlan* plan, Model* model,
                       std::unique_ptr<BatchLoader> loader, std::unique_ptr<Arena> gradients)
    : config_(std::move(config)),
      plan_(plan),
      model_(model),
      loader_(std::move(loader)),
      gradients_(std::move(gradients)),
      tracker_(
          *plan, [this](int bucket) { Submit(bucket); },
          config_.trace == nullptr
              ? std::function<void(int)>()
              : std::function<void(int)>([this](int bucket) { NoteFull(bucket); })),
      missing_(plan->specs()) {}

absl::StatusOr<RankPlayer::Turn> RankPlayer::Play(int64_t step, int rank, bool last) {
  RINGSIDE_CHECK(synchronizer_ != nullptr);
  model_->ClearGradients();
  tracker_.Reset();
  missing_.Reset();
  step_ = step;
  rank_ = rank;
  after_backward_ = false;
  const auto own = buffers_.find(rank);
  if (own != buffers_.end()) RINGSIDE_RETURN_IF_ERROR(WriteBuffers(own->second, model_));
  RINGSIDE_ASSIGN_OR_RETURN(Turn turn, PlayMicroBatches());
  if (own != buffers_.end()) RINGSIDE_RETURN_IF_ERROR(ReadBuffers(*model_, &own->second));
  const std::string line = rank == 0 && turn.samples > 0 ? missing_.Line(step) : "";
  if (!line.empty()) LogWarning(line);
  model_->CompleteGradients();
  // A rank without samples submits zeros, and parameters that got no gradient leave buckets
  // unfilled.
  after_backward_ = last;
  tracker_.Flush();
  turn.first_ready_at = first_ready_at_;
  turn.ready_at = config_.clock();
  return turn;
}

absl::StatusOr<RankPlayer::Turn> RankPlayer::PlayMicroBatches() {
  Turn turn;
  for (int part = 0; part < config_.accumulate; ++part) {
    RINGSIDE_RETURN_IF_ERROR(PlayMicroBatch(part, &turn));
  }
  return turn;
}

absl::StatusOr<BufferValues> RankPlayer::Buffers(int rank) const {
  BufferValues values = BufferValues::For(*model_);
  RINGSIDE_RETURN_IF_ERROR(CopyBuffers(rank, &values));
  return values;
}

absl::Status RankPlayer::CopyBuffers(int rank, BufferValues* values) const {
  const auto own = buffers_.find(rank);
  if (own != buffers_.end()) {
    *values = own->second;
    return absl::OkStatus();
  }
  if (values->empty()) *values = BufferValues::For(*model_);
  return values->empty() ? absl::OkStatus() : ReadBuffers(*model_, values);
}

absl::Status RankPlayer::SetBuffers(const BufferValues& values) {
  for (auto& [rank, own] : buffers_) own = values;
  return values.empty() ? absl::OkStatus() : WriteBuffers(values, model_);
}

absl::Status RankPlayer::SetBuffersOf(int rank, const BufferValues& values) {
  const auto own = buffers_.find(rank);
  if (own == buffers_.end()) return SetBuffers(values);
  own->second = values;
  return absl::OkStatus();
}

absl::Status RankPlayer::PlayMicroBatch(int part, Turn* turn) {
  const absl::Duration start = config_.clock();
  RINGSIDE_ASSIGN_OR_RETURN(BatchLoader::MicroBatch loaded, loader_->Get(step_, rank_, part));
  turn->epoch = loaded.epoch;
  turn->global_samples = loaded.global_samples;
  turn->samples = loaded.rank_samples;
  samples_ = loaded.rank_samples;
  const absl::Duration forward = config_.clock();
  turn->data += forward - start;
  Trace(TRACE_DATA, start, forward);
  if (part == 0 && config_.straggle != nullptr) config_.straggle(step_, rank_);
  if (loaded.samples == 0) {
    if (part == 0 && config_.straggle != nullptr) turn->forward += config_.clock() - forward;
    return absl::OkStatus();
  }
  loaded.batch.dropout_seed = DropoutSeed(config_.seed, rank_, step_, part);
  RINGSIDE_ASSIGN_OR_RETURN(const double loss, model_->Forward(loaded.batch));
  const absl::Duration backward = config_.clock();
  // Parts without samples come last.
  submitting_ = part + 1 == std::min<int64_t>(config_.accumulate, turn->samples);
  const absl::Status ended = model_->Backward(GradientWeight(loaded.samples, *turn));
  submitting_ = false;
  RINGSIDE_RETURN_IF_ERROR(ended);
  const absl::Duration end = config_.clock();
  turn->loss += LossWeight(loaded.samples, turn->global_samples) * loss;
  turn->forward += backward - forward;
  turn->backward += end - backward;
  Trace(TRACE_FORWARD, forward, backward);
  Trace(TRACE_BACKWARD, backward, end);
  return absl::OkStatus();
}

double RankPlayer::GradientWeight(int64_t samples, const Turn& turn) const {
  switch (config_.scale) {
    case Scale::kShareOfGlobalBatch:
      return LossWeight(samples, turn.global_samples);
    case Scale::kOwnMean:
      return LossWeight(samples, turn.samples);
    case Scale::kShareOfFullBatch:
      return LossWeight(samples, config_.global_batch_size);
  }
  return 0;
}

void RankPlayer::Submit(int bucket) {
  if (bucket == 0) first_ready_at_ = config_.clock();
  const TraceScope traced(config_.trace, TRACE_SUBMIT, step_, bucket, rank_);
  const ElementRange& range = plan_->bucket(bucket);
  synchronizer_->Submit({step_, rank_, bucket,
                         gradients_->span().subspan(range.begin, range.length), samples_,
                         after_backward_});
}

void RankPlayer::NoteFull(int bucket) {
  TraceBuffer* const trace = TraceBuffer::If(config_.trace, step_);
  if (trace == nullptr) return;
  const int64_t now = TraceBuffer::Now();
  trace->Record({TRACE_READY, step_, bucket, rank_, now, now});
}

void RankPlayer::Trace(TraceKind kind, absl::Duration begin, absl::Duration end) {
  TraceBuffer* const trace = TraceBuffer::If(config_.trace, step_);
  if (trace == nullptr) return;
  trace->Record({kind, step_, /*bucket=*/-1, rank_, absl::ToInt64Nanoseconds(begin),
                 absl::ToInt64Nanoseconds(end)});
}

}  // namespace ringside
