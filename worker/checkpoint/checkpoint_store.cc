#include "worker/checkpoint/checkpoint_store.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/logging.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

DurableFolder::Config FolderConfig(const std::string& path) {
  return {"--checkpoint_dir", path, "step-", ".ckpt"};
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  return !a.empty() && std::filesystem::equivalent(a, b, error) && !error;
}

}  // namespace

absl::StatusOr<CheckpointStore> CheckpointStore::Create(const Config& config) {
  if (config.folder.empty()) {
    return absl::InvalidArgumentError(
        "--checkpoint_dir is missing: checkpoints, which --checkpoint_steps asks for, need a "
        "folder; give it, or --out");
  }
  RINGSIDE_ASSIGN_OR_RETURN(DurableFolder folder, DurableFolder::Create(FolderConfig(config.folder),
                                                                        /*writable=*/true));
  CheckpointStore store(std::move(folder), config.keep);
  const std::vector<uint64_t> there = store.Names();
  const bool goes_on = std::any_of(there.begin(), there.end(), [&](uint64_t step) {
    return IsSameFile(config.resumed_from, store.PathOf(step));
  });
  if (there.empty() || goes_on) return store;
  return absl::AlreadyExistsError(absl::StrCat(
      "--checkpoint_dir=", config.folder, ": already holds checkpoints, the last one ",
      store.PathOf(there.front()), "; --resume=latest goes on from it, or name another folder"));
}

absl::StatusOr<CheckpointStore> CheckpointStore::OpenToRead(const std::string& folder) {
  RINGSIDE_ASSIGN_OR_RETURN(DurableFolder opened,
                            DurableFolder::Create(FolderConfig(folder), /*writable=*/false));
  return CheckpointStore(std::move(opened), /*keep=*/0);
}

absl::StatusOr<int64_t> CheckpointStore::Save(const CheckpointManifest& manifest,
                                              const std::vector<StateSection>& sections) const {
  const auto saved = static_cast<uint64_t>(manifest.step());
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t bytes, folder_.Save(saved, [&](const std::string& path) {
    return WriteCheckpointFile(path, manifest, sections);
  }));
  int kept = 1;
  for (uint64_t step : List()) {
    if (step == saved || (step < saved && ++kept <= keep_)) continue;
    // The checkpoint itself is safe; what cannot be removed only takes room.
    const absl::Status removed = folder_.Remove(step);
    if (!removed.ok()) LogWarning(removed.message());
  }
  return bytes;
}

std::vector<uint64_t> CheckpointStore::List() const {
  std::vector<uint64_t> steps;
  for (uint64_t step : folder_.Steps()) {
    const auto manifest = ReadCheckpointManifest(PathOf(step));
    if (manifest.ok() && manifest->step() == static_cast<int64_t>(step)) steps.push_back(step);
  }
  return steps;
}

}  // namespace ringside
