#include "worker/checkpoint/resume.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/checkpoint/checkpoint_store.h"
#include "worker/checkpoint/manifest.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::string> PathOfLatest(const std::string& folder) {
  if (folder.empty()) {
    return absl::InvalidArgumentError(
        "--resume=latest: needs --checkpoint_dir, or --out, to look in; or give the checkpoint's "
        "path");
  }
  const auto store = CheckpointStore::OpenToRead(folder);
  if (store.ok() && !store->Names().empty()) return store->PathOf(store->Names().front());
  return absl::NotFoundError(absl::StrCat(
      "--resume=latest: there is no checkpoint in ", folder,
      store.ok() ? "" : absl::StrCat(" (", std::string(store.status().message()), ")")));
}

absl::StatusOr<Checkpoint> Read(const std::string& path,
                                const std::map<std::string, std::string>& settings) {
  RINGSIDE_ASSIGN_OR_RETURN(Checkpoint checkpoint, ReadCheckpointFile(path));
  RINGSIDE_RETURN_IF_ERROR(CheckSettings(checkpoint.manifest, settings));
  return checkpoint;
}

// The newest checkpoint beside `path`, and older than it, that can be used; empty: there is none.
std::string EarlierOne(const std::string& path,
                       const std::map<std::string, std::string>& settings) {
  const fs::path folder = fs::path(path).parent_path();
  const auto store = CheckpointStore::OpenToRead(folder.empty() ? "." : folder.string());
  if (!store.ok()) return "";
  const fs::path name = fs::path(path).filename();
  const std::vector<uint64_t> steps = store->Names();
  // Of a file that was given another name nobody knows which ones are older.
  bool older = true;
  for (uint64_t step : steps) older = older && fs::path(store->PathOf(step)).filename() != name;
  for (uint64_t step : steps) {
    const std::string candidate = store->PathOf(step);
    if (older && fs::path(candidate).filename() != name && Read(candidate, settings).ok()) {
      return candidate;
    }
    older = older || fs::path(candidate).filename() == name;
  }
  return "";
}

absl::Status Refusal(const std::string& path, const absl::Status& why,
                     const std::map<std::string, std::string>& settings) {
  // Errors of files begin with the path.
  const std::string reason(why.message());
  const bool named = reason.compare(0, path.size(), path) == 0;
  std::string message = absl::StrCat("--resume=", named ? "" : absl::StrCat(path, ": "), reason);
  const std::string earlier = EarlierOne(path, settings);
  absl::StrAppend(&message,
                  earlier.empty()
                      ? std::string("; there is no earlier one that can be used")
                      : absl::StrCat("; the one before it can be used: --resume=", earlier));
  if (absl::IsNotFound(why)) return absl::NotFoundError(message);
  if (absl::IsPermissionDenied(why)) return absl::PermissionDeniedError(message);
  return absl::FailedPreconditionError(message);
}

}  // namespace

absl::StatusOr<FoundCheckpoint> FindCheckpoint(const std::string& resume, const std::string& folder,
                                               const std::map<std::string, std::string>& settings) {
  FoundCheckpoint found;
  found.path = resume;
  if (resume == "latest") {
    RINGSIDE_ASSIGN_OR_RETURN(found.path, PathOfLatest(folder));
  }
  absl::StatusOr<Checkpoint> checkpoint = Read(found.path, settings);
  if (!checkpoint.ok()) return Refusal(found.path, checkpoint.status(), settings);
  found.checkpoint = *std::move(checkpoint);
  return found;
}

}  // namespace ringside
