#include "worker/rank_player.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/element_range.h"
#include "common/logging.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<RankPlayer>> RankPlayer::Create(Config config, const Dataset* data,
                                                               const BucketPlan* plan, Model* model,
                                                               absl::Span<float> parameters) {
  if (config.accumulate < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--accumulate=", config.accumulate, ": must be at least 1"));
  }
  RINGSIDE_ASSIGN_OR_RETURN(Sampler sampler,
                            Sampler::Create(data->size(), config.global_batch_size, config.seed));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> gradients,
                            Arena::Create(plan->total_elements(), config.gradient_placement));
  auto player = absl::WrapUnique(new RankPlayer(std::move(config), data, plan, model,
                                                std::move(sampler), std::move(gradients)));
  RINGSIDE_RETURN_IF_ERROR(
      model->Bind(parameters, player->gradients_->span(), [self = player.get()](int parameter) {
        self->missing_.Ready(parameter);
        // Without overlap no bucket ever fills, and the flush after backward submits all of them.
        if (self->submitting_ && self->config_.overlap) self->tracker_.ParameterReady(parameter);
      }));
  return player;
}

RankPlayer::RankPlayer(Config config, const Dataset* data, const BucketPlan* plan, Model* model,
                       Sampler sampler, std::unique_ptr<Arena> gradients)
    : config_(std::move(config)),
      data_(data),
      plan_(plan),
      model_(model),
      gradients_(std::move(gradients)),
      sampler_(std::move(sampler)),
      tracker_(*plan, [this](int bucket) { Submit(bucket); }),
      missing_(plan->specs()) {
  const int64_t batch = std::min(config_.global_batch_size, data->size());
  const int64_t parts = int64_t{config_.world_size} * config_.accumulate;
  const int64_t largest = (batch + parts - 1) / parts;
  images_.resize(largest * data->image_elements());
  labels_.resize(largest);
}

absl::StatusOr<RankPlayer::Turn> RankPlayer::Play(int64_t step, int rank, bool last) {
  RINGSIDE_CHECK(synchronizer_ != nullptr);
  const Sampler::Share share = sampler_.ShareOf(step, config_.world_size, rank);
  Turn turn;
  turn.epoch = share.epoch;
  turn.global_samples = share.global_samples;
  turn.samples = static_cast<int64_t>(share.indices.size());
  std::fill(gradients_->span().begin(), gradients_->span().end(), 0.0f);
  tracker_.Reset();
  missing_.Reset();
  step_ = step;
  rank_ = rank;
  samples_ = turn.samples;
  after_backward_ = false;
  // Parts without samples come last.
  const int parts = static_cast<int>(std::min<int64_t>(config_.accumulate, turn.samples));
  for (int part = 0; part < parts; ++part) {
    const ElementRange range = Part({0, turn.samples}, parts, part);
    RINGSIDE_RETURN_IF_ERROR(
        PlayMicroBatch(share.indices.subspan(range.begin, range.length), part == parts - 1, &turn));
  }
  const std::string line = rank == 0 && parts > 0 ? missing_.Line(step) : "";
  if (!line.empty()) LogWarning(line);
  // A rank without samples submits zeros, and parameters that got no gradient leave buckets
  // unfilled.
  after_backward_ = last;
  tracker_.Flush();
  return turn;
}

absl::Status RankPlayer::PlayMicroBatch(absl::Span<const uint32_t> indices, bool last, Turn* turn) {
  const absl::Duration start = config_.clock();
  const auto samples = static_cast<int64_t>(indices.size());
  const absl::Span<float> images =
      absl::MakeSpan(images_).subspan(0, samples * data_->image_elements());
  const absl::Span<int64_t> labels = absl::MakeSpan(labels_).subspan(0, samples);
  data_->Fetch(indices, images, labels);
  const absl::Duration forward = config_.clock();
  RINGSIDE_ASSIGN_OR_RETURN(const double loss, model_->Forward({images, labels}));
  const absl::Duration backward = config_.clock();
  submitting_ = last;
  const absl::Status ended = model_->Backward(GradientWeight(samples, *turn));
  submitting_ = false;
  RINGSIDE_RETURN_IF_ERROR(ended);
  const absl::Duration end = config_.clock();
  turn->loss += LossWeight(samples, turn->global_samples) * loss;
  turn->data += forward - start;
  turn->forward += backward - forward;
  turn->backward += end - backward;
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
  const ElementRange& range = plan_->bucket(bucket);
  synchronizer_->Submit({step_, rank_, bucket,
                         gradients_->span().subspan(range.begin, range.length), samples_,
                         after_backward_});
}

}  // namespace ringside
