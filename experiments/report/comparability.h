// What must be the same in runs that are compared: settings, build and machine, by name. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_COMPARABILITY_H_
#define RINGSIDE_EXPERIMENTS_REPORT_COMPARABILITY_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "results.pb.h"

namespace ringside {

// Settings that any comparison may be about, and those that only say where files lie or how long to
// wait.
bool MayDiffer(const std::string& setting);

// Of one run: the settings that may not differ, and those of the two below.
std::map<std::string, std::string> Invariants(const RunResult& run);
// "build commit", "build type", "compiler", and "version of ..." for each library.
std::map<std::string, std::string> BuildOf(const RunResult& run);
// "kernel", "CPU model", "cores", "memory in GiB", "huge pages".
std::map<std::string, std::string> MachineOf(const RunResult& run);

// The value of a setting or of one of the above; empty where the run does not tell.
std::string InvariantOf(const RunResult& run, const std::string& name);

// Names whose values differ between two runs, ascending. Settings that one of the two takes no
// notice of are none.
std::vector<std::string> DifferingInvariants(const RunResult& a, const RunResult& b);

// "kernel is "6.1" in A and "6.2" in B", for each name of `a` or `b` whose values differ.
std::vector<std::string> DescribeDifferences(const std::map<std::string, std::string>& a,
                                             absl::string_view a_name,
                                             const std::map<std::string, std::string>& b,
                                             absl::string_view b_name);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_COMPARABILITY_H_
