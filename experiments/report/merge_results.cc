#include "experiments/report/merge_results.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/check.h"
#include "common/sha256.h"
#include "common/status_macros.h"
#include "experiments/report/comparability.h"
#include "experiments/report/run_samples.h"

namespace ringside {
namespace {

using Values = std::map<std::string, std::string>;

// Equal for one run wherever its result was read, and for no other: whoever launches a run adds
// command, network and ceilings to what worker 0 has left.
std::string FingerprintOf(RunResult run) {
  run.clear_command();
  run.clear_network();
  run.clear_ceilings();
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    run.SerializeToCodedStream(&coded);
  }
  return Sha256Hex(absl::string_view(bytes));
}

Values BuildAndMachineOf(const RunResult& run) {
  Values values = BuildOf(run);
  values.merge(MachineOf(run));
  return values;
}

// Every run of `part` against the first run of all.
absl::Status RequireSameOrigin(const NamedResult& first, const NamedResult& part) {
  for (const RunResult& run : part.result.runs()) {
    if (first.result.runs_size() == 0) break;
    const std::vector<std::string> differences = DescribeDifferences(
        BuildAndMachineOf(first.result.runs(0)), first.name, BuildAndMachineOf(run), part.name);
    if (differences.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        part.name, " is of another build or machine than ", first.name, ": ",
        absl::StrJoin(differences, "; "), "; --allow_unequal merges them nevertheless"));
  }
  return absl::OkStatus();
}

void AddOnce(const std::string& value, std::vector<std::string>* values) {
  if (value.empty()) return;
  if (std::find(values->begin(), values->end(), value) == values->end()) values->push_back(value);
}

}  // namespace

absl::StatusOr<ComparisonResult> MergeResults(const std::vector<NamedResult>& parts,
                                              const std::vector<std::string>& command,
                                              Inequality inequality) {
  RINGSIDE_CHECK(!parts.empty());
  std::vector<RunResult> runs;
  std::map<std::string, std::string> seen;  // fingerprint -> part
  std::vector<std::string> duplicates;
  std::vector<std::string> questions;
  SweepFacts facts;
  for (const NamedResult& part : parts) {
    if (part.result.allow_unequal()) inequality = Inequality::kAllowed;
  }
  for (const NamedResult& part : parts) {
    if (inequality == Inequality::kRefused)
      RINGSIDE_RETURN_IF_ERROR(RequireSameOrigin(parts.front(), part));
    AddOnce(part.result.question(), &questions);
    for (const std::string& setting : part.result.varied()) AddOnce(setting, &facts.varied);
    for (const std::string& line : part.result.sweep_warnings()) AddOnce(line, &facts.warnings);
    for (const RunResult& run : part.result.runs()) {
      const auto [earlier, is_new] = seen.emplace(FingerprintOf(run), part.name);
      if (is_new) {
        runs.push_back(run);
      } else {
        duplicates.push_back(
            absl::StrCat("(", RunName(run), ") of ", earlier->second, " again in ", part.name));
      }
    }
  }
  if (!duplicates.empty()) {
    facts.warnings.push_back(absl::StrCat(
        "Runs that were given twice count once: ", absl::StrJoin(duplicates, ", "), "."));
  }
  facts.question = absl::StrJoin(questions, " ");
  return BuildComparison(runs, command, parts.front().result.provenance(), facts, inequality);
}

}  // namespace ringside
