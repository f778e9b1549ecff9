#include "worker/checkpoint/manifest.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/shard_map.h"

namespace ringside {
namespace {

void AddParameters(const BucketPlan& plan, const std::vector<ParameterSpec>& parameters,
                   CheckpointManifest* manifest) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    CheckpointTensor* tensor = manifest->add_tensors();
    tensor->set_name(parameters[i].name);
    tensor->mutable_shape()->Assign(parameters[i].shape.begin(), parameters[i].shape.end());
    tensor->set_dtype(parameters[i].dtype);
    tensor->set_section(kParametersSection);
    tensor->set_offset(plan.parameter(static_cast<int>(i)).begin);
  }
}

void AddShardMap(const BucketPlan& plan, int shards, CheckpointManifest* manifest) {
  for (int shard = 0; shard < shards; ++shard) {
    for (int bucket = 0; bucket < plan.size(); ++bucket) {
      const ElementRange stripe = ShardStripe(plan.bucket(bucket).length, shards, shard);
      if (stripe.length == 0) continue;
      ShardExtent* extent = manifest->add_shard_map();
      extent->set_shard(shard);
      extent->set_begin(plan.bucket(bucket).begin + stripe.begin);
      extent->set_length(stripe.length);
    }
  }
}

constexpr char kWhyCutMatters[] =
    "; what this model's batch normalisation or dropout does depends on how the global batch is "
    "cut: "
    "--workers, --accumulate and --batch_size must stay";

}  // namespace

std::string OptimizerSection(const std::string& optimizer, size_t index) {
  return absl::StrCat("optimizer.", optimizer, ".", index);
}

std::vector<StateSection> TrainedSections(absl::Span<float> parameters,
                                          const std::string& optimizer,
                                          const UpdateState& update_state) {
  std::vector<StateSection> sections = {StateSection::Of(kParametersSection, parameters)};
  for (size_t i = 0; i < update_state.optimizer.size(); ++i) {
    sections.push_back(StateSection::Of(OptimizerSection(optimizer, i), update_state.optimizer[i]));
  }
  if (!update_state.skipped_steps.empty()) {
    sections.push_back(StateSection::Of(kSkippedStepsSection, update_state.skipped_steps));
  }
  return sections;
}

std::map<std::string, std::string> ResumeSettings(const JobConfig& job, const BucketPlan& plan,
                                                  int64_t training_samples) {
  std::map<std::string, std::string> settings = job.ResumeSettings();
  settings["bucket_plan_sha256"] = plan.hash();
  settings["training_samples"] = absl::StrCat(training_samples);
  return settings;
}

std::string BatchCut(const JobConfig& job) {
  return absl::StrCat(job.workers, job.workers == 1 ? " worker x " : " workers x ", job.accumulate,
                      job.accumulate == 1 ? " micro-batch x " : " micro-batches x ", job.batch_size,
                      job.batch_size == 1 ? " sample" : " samples");
}

ManifestMaker::ManifestMaker(const JobConfig& job, const BucketPlan& plan,
                             const std::vector<ParameterSpec>& parameters, int64_t training_samples,
                             Provenance provenance)
    : schedule_(job.lr_schedule()),
      base_rate_(job.scaled_optimizer().learning_rate),
      samples_(training_samples),
      global_batch_(job.global_batch_size()) {
  constant_.set_seed(job.seed);
  constant_.set_strategy(job.strategy);
  constant_.set_world_size(job.workers);
  constant_.set_shards(job.shards());
  for (const auto& [name, value] : ResumeSettings(job, plan, training_samples)) {
    (*constant_.mutable_settings())[name] = value;
  }
  AddParameters(plan, parameters, &constant_);
  AddShardMap(plan, job.shards(), &constant_);
  *constant_.mutable_provenance() = std::move(provenance);
}

void ManifestMaker::AddSettings(const std::map<std::string, std::string>& settings) {
  for (const auto& [name, value] : settings) (*constant_.mutable_settings())[name] = value;
}

void ManifestMaker::AddTensors(const std::vector<CheckpointTensor>& tensors) {
  for (const CheckpointTensor& tensor : tensors) *constant_.add_tensors() = tensor;
}

CheckpointManifest ManifestMaker::After(int64_t step) const {
  CheckpointManifest manifest = constant_;
  const int64_t steps_per_epoch = (samples_ + global_batch_ - 1) / global_batch_;
  const int64_t epoch = (step - 1) / steps_per_epoch;
  const int64_t steps_of_epoch = step - epoch * steps_per_epoch;
  manifest.set_step(step);
  manifest.set_epoch(epoch);
  manifest.set_position_in_epoch(std::min(samples_, steps_of_epoch * global_batch_));
  manifest.set_samples_seen(epoch * samples_ + manifest.position_in_epoch());
  const auto schedule = LearningRateSchedule::Create(schedule_, base_rate_);
  if (schedule.ok()) manifest.set_learning_rate(schedule->At(step));
  return manifest;
}

absl::Status CheckSettings(const CheckpointManifest& manifest,
                           const std::map<std::string, std::string>& ours) {
  for (const auto& [name, value] : ours) {
    const auto found = manifest.settings().find(name);
    if (found != manifest.settings().end() && found->second == value) continue;
    const std::string theirs = found == manifest.settings().end()
                                   ? "not recorded"
                                   : absl::StrCat("\"", found->second, "\"");
    return absl::FailedPreconditionError(absl::StrCat("of another training: its ", name, " is ",
                                                      theirs, ", that of this job \"", value, "\"",
                                                      name == kBatchCut ? kWhyCutMatters : ""));
  }
  return absl::OkStatus();
}

}  // namespace ringside
