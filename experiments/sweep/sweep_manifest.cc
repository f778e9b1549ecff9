#include "experiments/sweep/sweep_manifest.h"

#include <fcntl.h>
#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/durable_folder.h"
#include "common/network/socket.h"
#include "common/sha256.h"
#include "common/status_macros.h"
#include "experiments/report/text_file.h"

namespace ringside {
namespace {

constexpr int kSchemaVersion = 1;

std::string ManifestPath(const std::string& folder) { return absl::StrCat(folder, "/sweep.json"); }

std::string ResultsPath(const std::string& folder, const std::string& run) {
  return absl::StrCat(folder, "/runs/", run, "/results.json");
}

// Creates or replaces `path`, and returns when the text is on the disk.
absl::StatusOr<int64_t> WriteToDisk(const std::string& path, const std::string& text) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  bool ok = file.valid();
  for (size_t written = 0; ok && written < text.size();) {
    const ssize_t bytes = write(file.get(), text.data() + written, text.size() - written);
    if (bytes < 0 && errno == EINTR) continue;
    ok = bytes >= 0;
    if (ok) written += static_cast<size_t>(bytes);
  }
  if (ok && fsync(file.get()) == 0) return static_cast<int64_t>(text.size());
  return absl::ErrnoToStatus(errno, absl::StrCat("writing ", path));
}

const FinishedRun* Find(const SweepManifest& manifest, const std::string& run) {
  const auto found =
      std::find_if(manifest.finished().begin(), manifest.finished().end(),
                   [&](const FinishedRun& finished) { return finished.folder() == run; });
  return found == manifest.finished().end() ? nullptr : &*found;
}

}  // namespace

SweepManifest MakeManifest(const SpecSource& source, const SweepIdentity& build_and_machine) {
  SweepManifest manifest;
  manifest.set_schema_version(kSchemaVersion);
  manifest.set_spec_name(source.name);
  manifest.set_spec_text(source.text);
  for (const auto& [name, value] : build_and_machine) (*manifest.mutable_identity())[name] = value;
  (*manifest.mutable_identity())["SHA-256 of the spec"] = Sha256Hex(source.text);
  return manifest;
}

absl::StatusOr<SweepManifest> LoadManifest(const std::string& folder) {
  RINGSIDE_ASSIGN_OR_RETURN(const std::string json, ReadTextFile(ManifestPath(folder)));
  SweepManifest manifest;
  const auto parsed = google::protobuf::util::JsonStringToMessage(json, &manifest);
  if (!parsed.ok() || manifest.schema_version() != kSchemaVersion) {
    return absl::DataLossError(absl::StrCat(
        ManifestPath(folder), " is not the memory of a sweep that this program reads",
        parsed.ok() ? "" : ": ", std::string(parsed.message()), "; --overwrite starts anew"));
  }
  return manifest;
}

absl::Status SaveManifest(const SweepManifest& manifest, const std::string& folder) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.add_whitespace = true;
  std::string json;
  const auto converted = google::protobuf::util::MessageToJsonString(manifest, &json, options);
  if (!converted.ok()) {
    return absl::InternalError(
        absl::StrCat("sweep.json: ", std::string(converted.message())));  // no UTF-8 in the spec
  }
  return ReplaceFile(ManifestPath(folder),
                     [&json](const std::string& path) { return WriteToDisk(path, json); })
      .status();
}

absl::Status RequireSame(const SweepManifest& before, const SweepManifest& now,
                         const std::string& folder) {
  const std::vector<std::string> differences =
      Differences({before.identity().begin(), before.identity().end()},
                  {now.identity().begin(), now.identity().end()});
  if (differences.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "--out=", folder, ": holds a sweep with which this one must not be mixed: ",
      absl::StrJoin(differences, "; "), "; name another folder, or --overwrite replaces it"));
}

absl::Status AddFinished(const std::string& folder, const std::string& run, absl::Duration took,
                         SweepManifest* manifest) {
  RINGSIDE_ASSIGN_OR_RETURN(const std::string json, ReadTextFile(ResultsPath(folder, run)));
  auto* all = manifest->mutable_finished();
  all->erase(std::remove_if(all->begin(), all->end(),
                            [&](const FinishedRun& other) { return other.folder() == run; }),
             all->end());
  FinishedRun* finished = manifest->add_finished();
  finished->set_folder(run);
  finished->set_seconds(absl::ToDoubleSeconds(took));
  finished->set_results_sha256(Sha256Hex(json));
  return absl::OkStatus();
}

absl::StatusOr<KeptRun> ReadFinished(const SweepManifest& manifest, const std::string& folder,
                                     const std::string& run) {
  const FinishedRun* finished = Find(manifest, run);
  if (finished == nullptr) return absl::NotFoundError(absl::StrCat(run, " has not ended well"));
  const std::string path = ResultsPath(folder, run);
  const absl::StatusOr<std::string> json = ReadTextFile(path);
  KeptRun kept;
  if (!json.ok() || Sha256Hex(*json) != finished->results_sha256() ||
      !google::protobuf::util::JsonStringToMessage(*json, &kept.result).ok()) {
    return absl::DataLossError(absl::StrCat(path, " is not what its run has left"));
  }
  kept.took = absl::Seconds(finished->seconds());
  return kept;
}

}  // namespace ringside
