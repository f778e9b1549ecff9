#include "worker/trainer.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/logging.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::Create(Config config, const Dataset* data,
                                                         const BucketPlan* plan, Model* model) {
  if (config.hosted_ranks.empty()) {
    return absl::InvalidArgumentError("a trainer must host at least one rank");
  }
  if ((config.steps > 0) == (config.epochs > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("--steps=", config.steps,
                                                   " and --epochs=", config.epochs,
                                                   ": exactly one of them must be positive"));
  }
  RINGSIDE_ASSIGN_OR_RETURN(Sampler sampler,
                            Sampler::Create(data->size(), config.global_batch_size, config.seed));
  if (config.epochs > INT64_MAX / sampler.steps_per_epoch()) {
    return absl::InvalidArgumentError(absl::StrCat("--epochs=", config.epochs, ": too many"));
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> parameters,
                            Arena::Create(plan->total_elements(), Arena::Placement::kHeap));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> gradients,
                            Arena::Create(plan->total_elements(), config.gradient_placement));
  auto trainer =
      absl::WrapUnique(new Trainer(std::move(config), data, plan, model, std::move(sampler),
                                   std::move(parameters), std::move(gradients)));
  // Without overlap no bucket ever fills, and the flush after backward submits all of them.
  const auto on_ready = [tracker = &trainer->tracker_, missing = &trainer->missing_,
                         overlap = trainer->config_.overlap](int parameter) {
    missing->Ready(parameter);
    if (overlap) tracker->ParameterReady(parameter);
  };
  RINGSIDE_RETURN_IF_ERROR(
      model->Bind(trainer->parameters_->span(), trainer->gradients_->span(), on_ready));
  return trainer;
}

Trainer::Trainer(Config config, const Dataset* data, const BucketPlan* plan, Model* model,
                 Sampler sampler, std::unique_ptr<Arena> parameters,
                 std::unique_ptr<Arena> gradients)
    : config_(std::move(config)),
      data_(data),
      plan_(plan),
      model_(model),
      parameters_(std::move(parameters)),
      gradients_(std::move(gradients)),
      sampler_(std::move(sampler)),
      tracker_(*plan, [this](int bucket) { Submit(bucket); }),
      missing_(plan->specs()) {
  total_steps_ = config_.steps > 0 ? config_.steps : config_.epochs * sampler_.steps_per_epoch();
  const int64_t batch = std::min(config_.global_batch_size, data->size());
  const int64_t largest_share = (batch + config_.world_size - 1) / config_.world_size;
  images_.resize(largest_share * data->image_elements());
  labels_.resize(largest_share);
}

absl::Status Trainer::Start(GradientSynchronizer* synchronizer) {
  synchronizer_ = synchronizer;
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

absl::StatusOr<int64_t> Trainer::RunStep(StepRecord* step_record) {
  StepRecord& record = *step_record;
  record.set_step(step_);
  const absl::Duration begin = config_.clock();
  for (int rank : config_.hosted_ranks) RINGSIDE_RETURN_IF_ERROR(PlayRank(rank, &record));
  RINGSIDE_ASSIGN_OR_RETURN(const StepStats stats, synchronizer_->Finish(step_));
  record.set_step_s(absl::ToDoubleSeconds(config_.clock() - begin));
  record.set_hidden_comm_s(absl::ToDoubleSeconds(stats.communication.hidden));
  record.set_exposed_comm_s(absl::ToDoubleSeconds(stats.communication.exposed));
  record.set_optimizer_s(absl::ToDoubleSeconds(stats.optimizer));
  record.set_skipped(stats.skipped.empty() ? 0 : 1);
  if (!stats.skipped.empty() && config_.hosted_ranks.front() == 0) {
    LogWarning(absl::StrCat(stats.skipped, "; no rank applies it"));
  }
  record.set_other_s(record.step_s() - record.data_s() - record.forward_s() - record.backward_s() -
                     record.exposed_comm_s() - record.optimizer_s());
  return stats.parameters_step;
}

absl::Status Trainer::PlayRank(int rank, StepRecord* record) {
  const absl::Duration start = config_.clock();
  const Sampler::Share share = sampler_.ShareOf(step_, config_.world_size, rank);
  const int64_t samples = static_cast<int64_t>(share.indices.size());
  const Batch batch = {absl::MakeConstSpan(images_).subspan(0, samples * data_->image_elements()),
                       absl::MakeConstSpan(labels_).subspan(0, samples)};
  data_->Fetch(share.indices, absl::MakeSpan(images_).subspan(0, batch.images.size()),
               absl::MakeSpan(labels_).subspan(0, samples));
  record->set_data_s(record->data_s() + absl::ToDoubleSeconds(config_.clock() - start));
  record->set_epoch(share.epoch);
  record->set_global_samples(share.global_samples);
  record->set_samples(record->samples() + samples);

  std::fill(gradients_->span().begin(), gradients_->span().end(), 0.0f);
  tracker_.Reset();
  missing_.Reset();
  playing_rank_ = rank;
  playing_samples_ = samples;
  after_backward_ = false;
  if (samples > 0) {
    const double weight = RankLossWeight(samples, share.global_samples);
    const absl::Duration forward = config_.clock();
    RINGSIDE_ASSIGN_OR_RETURN(const double loss, model_->Forward(batch));
    const absl::Duration backward = config_.clock();
    RINGSIDE_RETURN_IF_ERROR(model_->Backward(GradientWeight(samples, share.global_samples)));
    const absl::Duration end = config_.clock();
    if (rank == 0) {
      const std::string line = missing_.Line(step_);
      if (!line.empty()) LogWarning(line);
    }
    record->set_loss(record->loss() + weight * loss);
    record->set_forward_s(record->forward_s() + absl::ToDoubleSeconds(backward - forward));
    record->set_backward_s(record->backward_s() + absl::ToDoubleSeconds(end - backward));
  }
  // A rank without samples submits zeros, and parameters that got no gradient leave buckets
  // unfilled.
  after_backward_ = rank == config_.hosted_ranks.back();
  tracker_.Flush();
  return absl::OkStatus();
}

double Trainer::GradientWeight(int64_t samples, int64_t global_samples) const {
  switch (config_.scale) {
    case Config::Scale::kShareOfGlobalBatch:
      return RankLossWeight(samples, global_samples);
    case Config::Scale::kOwnMean:
      return 1;
    case Config::Scale::kShareOfFullBatch:
      return RankLossWeight(samples, config_.global_batch_size);
  }
  return 0;
}

void Trainer::Submit(int bucket) {
  const ElementRange& range = plan_->bucket(bucket);
  synchronizer_->Submit({step_, playing_rank_, bucket,
                         gradients_->span().subspan(range.begin, range.length), playing_samples_,
                         after_backward_});
}

}  // namespace ringside
