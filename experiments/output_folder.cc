#include "experiments/output_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/config/job_config.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

bool IsOurFile(const std::string& name) {
  for (const char* known :
       {"results.json", "results.csv", "summary.md", "report.html", "sweep.json", "trace.json"}) {
    if (name == known) return true;
  }
  return false;
}

bool IsProcessFile(const std::string& name) {
  return (absl::StartsWith(name, "worker-") || absl::StartsWith(name, "shard-")) &&
         (absl::EndsWith(name, ".log") || absl::EndsWith(name, ".jsonl"));
}

bool IsFigureFile(const std::string& name) {
  for (const char* figure : {"loss", "throughput", "efficiency", "breakdown"}) {
    if (name == absl::StrCat(figure, ".svg") || name == absl::StrCat(figure, ".csv")) return true;
  }
  return false;
}

bool IsCheckpointFile(const std::string& name) {
  return absl::StartsWith(name, "step-") &&
         (absl::EndsWith(name, ".ckpt") || absl::EndsWith(name, ".ckpt.partial"));
}

// The folder of one job of a comparison: "ring-w2-t1".
bool IsRunFolder(const std::string& name) {
  for (const std::string& strategy : KnownStrategies()) {
    if (absl::StartsWith(name, absl::StrCat(strategy, "-w"))) return true;
  }
  return false;
}

// Not a link to one: what that leads to is not ours.
bool IsRealFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

std::vector<fs::path> Entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
  }
  return entries;
}

// The first thing in `folder` that only results leave; empty where there is none.
std::string FindResults(const fs::path& folder, bool resumes) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder / "runs", error))) return "runs";
  for (const fs::path& entry : Entries(folder)) {
    if (IsOurFile(entry.filename().string())) return entry.filename().string();
  }
  for (const fs::path& entry : Entries(folder / "figures")) {
    if (IsFigureFile(entry.filename().string())) return "figures";
  }
  for (const fs::path& entry : Entries(folder / "checkpoints")) {
    if (!resumes && IsCheckpointFile(entry.filename().string())) return "checkpoints";
  }
  return "";
}

absl::Status CannotWrite(const std::string& path, const std::string& reason) {
  return absl::PermissionDeniedError(
      absl::StrCat("--out=", path, ": cannot be written (", reason,
                   "); must be a folder that exists or can be made"));
}

absl::Status TryWriting(const std::string& path) {
  std::string name = absl::StrCat(path, "/.ringside-XXXXXX");
  const int fd = mkstemp(name.data());
  if (fd < 0) return CannotWrite(path, strerror(errno));
  close(fd);
  unlink(name.c_str());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OutputFolder> OutputFolder::Prepare(const std::string& path, bool overwrite,
                                                   bool resumes) {
  OutputFolder folder;
  folder.path_ = path;
  folder.resumes_ = resumes;
  std::error_code error;
  const std::string results = FindResults(path, resumes);
  if (!results.empty() && !overwrite) {
    return absl::AlreadyExistsError(
        absl::StrCat("--out=", path, ": already holds results (", results,
                     "); name another folder, or --overwrite replaces them"));
  }
  std::vector<fs::path> missing;
  for (fs::path at = fs::absolute(path).lexically_normal(); !at.empty() && !fs::exists(at, error);
       at = at.parent_path()) {
    if (at.has_filename()) missing.push_back(at);
    if (at == at.root_path()) break;
  }
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    if (!fs::create_directory(*it, error) && error) {
      folder.Discard();
      return CannotWrite(path, error.message());
    }
    folder.created_.push_back(it->string());
  }
  if (!fs::is_directory(path, error)) return CannotWrite(path, "it is not a folder");
  const absl::Status writable = TryWriting(path);
  if (!writable.ok()) {
    folder.Discard();
    return writable;
  }
  RemoveResults(path, resumes);
  return folder;
}

absl::StatusOr<OutputFolder> OutputFolder::Temporary() {
  std::error_code error;
  std::string name = absl::StrCat(fs::temp_directory_path(error).string(), "/ringside-XXXXXX");
  if (mkdtemp(name.data()) == nullptr) return CannotWrite(name, strerror(errno));
  OutputFolder folder;
  folder.path_ = name;
  folder.created_ = {name};
  folder.temporary_ = true;
  return folder;
}

void OutputFolder::Discard() const {
  RemoveResults(path_, resumes_);
  std::error_code error;
  for (auto it = created_.rbegin(); it != created_.rend(); ++it)
    fs::remove(*it, error);  // only if empty
}

void RemoveResults(const std::string& folder, bool resumes) {
  std::error_code error;
  for (const fs::path& entry : Entries(folder)) {
    if (IsOurFile(entry.filename().string())) fs::remove(entry, error);
  }
  for (const std::string name : {"logs", "steps", "figures", "checkpoints"}) {
    const fs::path inner = fs::path(folder) / name;
    if (!IsRealFolder(inner) || (resumes && (name == "steps" || name == "checkpoints"))) continue;
    for (const fs::path& entry : Entries(inner)) {
      const std::string file = entry.filename().string();
      if (IsProcessFile(file) || (name == "figures" && IsFigureFile(file)) ||
          (name == "checkpoints" && IsCheckpointFile(file)))
        fs::remove(entry, error);
    }
    fs::remove(inner, error);  // only if empty
  }
  const fs::path runs = fs::path(folder) / "runs";
  if (!IsRealFolder(runs)) return;
  for (const fs::path& run : Entries(runs)) {
    if (!IsRealFolder(run) || !IsRunFolder(run.filename().string())) continue;
    RemoveResults(run.string());
    fs::remove(run, error);
  }
  fs::remove(runs, error);
}

}  // namespace ringside
