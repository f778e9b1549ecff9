#include "worker/checkpoint/checkpointer.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<Checkpointer>> Checkpointer::Create(
    const Config& config, CheckpointStore store, ManifestMaker manifests,
    std::vector<StateSection> state) {
  auto checkpointer =
      absl::WrapUnique(new Checkpointer(config, std::move(store), std::move(manifests)));
  const auto write = [store = &checkpointer->store_](const CheckpointManifest& manifest,
                                                     const std::vector<StateSection>& sections) {
    return store->Save(manifest, sections);
  };
  RINGSIDE_ASSIGN_OR_RETURN(checkpointer->writer_,
                            BackgroundWriter::Create(std::move(state), write));
  return checkpointer;
}

absl::Status Checkpointer::OnStep(int64_t step) {
  RINGSIDE_RETURN_IF_ERROR(writer_->Error());
  const bool asked = config_.signals != nullptr && config_.signals->save.exchange(false);
  const bool ending = config_.signals != nullptr && config_.signals->end;
  const bool due =
      config_.every_steps > 0 && (step % config_.every_steps == 0 || step == config_.last_step);
  const bool last = step == config_.last_step;
  saves_last_ = last && (asked || ending || due) && writer_->busy();
  if (saves_last_) return absl::OkStatus();
  if (asked || ending || due) RINGSIDE_RETURN_IF_ERROR(writer_->Save(manifests_.After(step)));
  if (!ending || last) return absl::OkStatus();
  RINGSIDE_RETURN_IF_ERROR(writer_->Finish());
  return absl::CancelledError(absl::StrCat(
      "ended by a signal after step ", step,
      "; --resume=", store_.PathOf(static_cast<uint64_t>(step)), " goes on from there"));
}

absl::Status Checkpointer::Finish() {
  if (std::exchange(saves_last_, false)) {
    RINGSIDE_RETURN_IF_ERROR(writer_->Save(manifests_.After(config_.last_step)));
  }
  return writer_->Finish();
}

}  // namespace ringside
