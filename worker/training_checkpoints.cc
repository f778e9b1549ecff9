#include "worker/training_checkpoints.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/logging.h"
#include "common/sha256.h"
#include "common/status_macros.h"
#include "worker/checkpoint/manifest.h"

namespace ringside {
namespace {

std::string HashOf(const std::vector<StateSection>& sections) {
  std::vector<absl::Span<const uint8_t>> pieces;
  for (const StateSection& section : sections) pieces.push_back(section.bytes);
  return Sha256Hex(pieces);
}

// One hash for all that a checkpoint contains.
std::string HashOf(const CheckpointManifest& manifest) {
  std::string text;
  for (const CheckpointSection& section : manifest.sections()) {
    absl::StrAppend(&text, section.name(), " ", section.sha256(), "\n");
  }
  return Sha256Hex(absl::string_view(text));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TrainingCheckpoints>> TrainingCheckpoints::Open(
    Config config, const BucketPlan& plan) {
  ManifestMaker manifests(config.job, plan, config.parameters, config.training_samples,
                          config.provenance);
  const std::map<std::string, std::string> own = OwnSettings(config);
  manifests.AddSettings(own);
  auto checkpoints =
      absl::WrapUnique(new TrainingCheckpoints(std::move(config), std::move(manifests)));
  const JobConfig& job = checkpoints->config_.job;
  CheckpointStore::Config store{job.checkpoint_folder(), job.keep_checkpoints, ""};
  if (!job.resume.empty()) {
    std::map<std::string, std::string> settings =
        ResumeSettings(job, plan, checkpoints->config_.training_samples);
    settings.insert(own.begin(), own.end());
    RINGSIDE_ASSIGN_OR_RETURN(checkpoints->found_,
                              FindCheckpoint(job.resume, job.checkpoint_folder(), settings));
    const CheckpointManifest& manifest = checkpoints->found_->checkpoint.manifest;
    store.resumed_from = checkpoints->found_->path;
    checkpoints->resumed_step_ = manifest.step();
    checkpoints->resumed_hash_ = HashOf(manifest);
    if (manifest.step() < 1 || manifest.step() >= checkpoints->config_.total_steps) {
      return absl::InvalidArgumentError(
          absl::StrCat("--resume=", store.resumed_from, ": is of step ", manifest.step(),
                       ", and this job has ", checkpoints->config_.total_steps,
                       " steps: nothing is left to train; give more --steps or --epochs"));
    }
  }
  if (checkpoints->writes()) {
    RINGSIDE_ASSIGN_OR_RETURN(checkpoints->store_, CheckpointStore::Create(store));
  }
  return checkpoints;
}

TrainingCheckpoints::Buffers TrainingCheckpoints::StateOfBuffers(const Model& model,
                                                                 BufferValues* values) {
  Buffers state;
  const auto add = [&state](const std::vector<ParameterSpec>& specs, const char* section) {
    int64_t offset = 0;
    for (const ParameterSpec& spec : specs) {
      CheckpointTensor& tensor = state.tensors.emplace_back();
      tensor.set_name(spec.name);
      tensor.mutable_shape()->Assign(spec.shape.begin(), spec.shape.end());
      tensor.set_dtype(spec.dtype);
      tensor.set_section(section);
      tensor.set_offset(offset);
      offset += spec.elements();
    }
  };
  if (!values->floats.empty()) {
    add(model.Buffers().floats, kBuffersSection);
    state.sections.push_back(StateSection::Of(kBuffersSection, absl::MakeSpan(values->floats)));
  }
  if (!values->counters.empty()) {
    add(model.Buffers().counters, kCountersSection);
    state.sections.push_back(StateSection::Of(kCountersSection, absl::MakeSpan(values->counters)));
  }
  return state;
}

std::map<std::string, std::string> TrainingCheckpoints::OwnSettings(const Config& config) {
  std::map<std::string, std::string> settings = config.data_settings;
  if (!config.depends_on_cut.empty()) settings[kBatchCut] = BatchCut(config.job);
  return settings;
}

std::map<std::string, std::string> TrainingCheckpoints::SharedFacts() const {
  std::map<std::string, std::string> facts = {{"resumed_step", absl::StrCat(resumed_step_)},
                                              {"resumed_sha256", resumed_hash_}};
  if (writes()) facts[kSavesTraining] = "true";
  return facts;
}

absl::Status TrainingCheckpoints::Attach(Trainer* trainer,
                                         const absl::optional<UpdateState>& update_state,
                                         Buffers buffers) {
  has_update_state_ = update_state.has_value();
  std::vector<StateSection> state =
      TrainedSections(trainer->mutable_parameters(), config_.job.optimizer.name,
                      update_state.value_or(UpdateState()));
  update_state_.assign(state.begin() + 1, state.end());
  buffers_ = std::move(buffers.sections);
  state.insert(state.end(), buffers_.begin(), buffers_.end());
  if (found_.has_value()) {
    RINGSIDE_RETURN_IF_ERROR(RestoreSections(found_->checkpoint, state));
    trainer->ResumeAfter(resumed_step_);
    if (config_.rank == 0) {
      LogInfo(absl::StrCat("goes on after step ", resumed_step_, ", from ", found_->path));
    }
    found_.reset();
  }
  if (!store_.has_value()) return absl::OkStatus();
  manifests_.AddTensors(buffers.tensors);
  RINGSIDE_ASSIGN_OR_RETURN(
      checkpointer_,
      Checkpointer::Create({config_.job.checkpoint_steps, config_.total_steps, config_.signals},
                           *std::exchange(store_, absl::nullopt), manifests_, std::move(state)));
  return absl::OkStatus();
}

absl::Status TrainingCheckpoints::OnStep(int64_t step) {
  return checkpointer_ == nullptr ? absl::OkStatus() : checkpointer_->OnStep(step);
}

void TrainingCheckpoints::Describe(WorkerResult* result) const {
  if (has_update_state_) result->set_optimizer_state_sha256(HashOf(update_state_));
  if (!buffers_.empty()) result->set_buffers_sha256(HashOf(buffers_));
}

absl::StatusOr<absl::Time> TrainingCheckpoints::Finish(WorkerResult* result) {
  if (checkpointer_ == nullptr) return absl::InfinitePast();
  RINGSIDE_RETURN_IF_ERROR(checkpointer_->Finish());
  const BackgroundWriter::Totals totals = checkpointer_->totals();
  CheckpointStatistics* statistics = result->mutable_checkpoints();
  statistics->set_written(totals.written);
  statistics->set_bytes(totals.bytes);
  statistics->set_copy_s(absl::ToDoubleSeconds(totals.copying));
  statistics->set_wait_s(absl::ToDoubleSeconds(totals.waiting));
  statistics->set_write_s(absl::ToDoubleSeconds(totals.writing));
  return totals.written_at;
}

}  // namespace ringside
