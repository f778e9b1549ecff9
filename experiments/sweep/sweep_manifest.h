// The memory of a sweep's folder: what it is of, and which of its runs have ended well. It is what
// lets a sweep that was interrupted go on.
//
// The manifest is <folder>/sweep.json, replaced as a whole after each job, so that a process or a
// machine that fails leaves the one before or the one after.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_MANIFEST_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_MANIFEST_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/sweep/spec_source.h"
#include "experiments/sweep/sweep_identity.h"
#include "results.pb.h"
#include "sweep.pb.h"

namespace ringside {

// `build_and_machine` and the spec together are the identity.
SweepManifest MakeManifest(const SpecSource& source, const SweepIdentity& build_and_machine);

// NOT_FOUND: the folder has none. DATA_LOSS: it cannot be read as one.
absl::StatusOr<SweepManifest> LoadManifest(const std::string& folder);

// The folder exists. Errors of the system, with the path.
absl::Status SaveManifest(const SweepManifest& manifest, const std::string& folder);

// FAILED_PRECONDITION: what `folder` holds is of another spec, build or machine; names all that
// differs.
absl::Status RequireSame(const SweepManifest& before, const SweepManifest& now,
                         const std::string& folder);

// Notes that the job of runs/<run> has ended well. NOT_FOUND and other errors of reading its
// results.json.
absl::Status AddFinished(const std::string& folder, const std::string& run, absl::Duration took,
                         SweepManifest* manifest);

struct KeptRun {
  RunResult result;
  absl::Duration took;
};
// NOT_FOUND: the job of runs/<run> has not ended well. DATA_LOSS: it had, but its results.json is
// not what it was.
absl::StatusOr<KeptRun> ReadFinished(const SweepManifest& manifest, const std::string& folder,
                                     const std::string& run);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_MANIFEST_H_
