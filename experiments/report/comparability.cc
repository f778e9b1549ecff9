#include "experiments/report/comparability.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "experiments/report/point.h"
#include "experiments/report/server_mode.h"

namespace ringside {
namespace {

using Values = std::map<std::string, std::string>;

std::string ValueOr(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? "absent" : absl::StrCat("\"", found->second, "\"");
}

std::set<std::string> NamesOf(const Values& a, const Values& b) {
  std::set<std::string> names;
  for (const auto& entry : a) names.insert(entry.first);
  for (const auto& entry : b) names.insert(entry.first);
  return names;
}

std::string Known(int64_t number) { return number > 0 ? absl::StrCat(number) : ""; }

}  // namespace

bool MayDiffer(const std::string& setting) {
  static const auto* names = new std::set<std::string>{"strategy",
                                                       "schedule",
                                                       "device",
                                                       "workers",
                                                       "ps_shards",
                                                       "batch_size",
                                                       "trial",
                                                       "out",
                                                       "data_dir",
                                                       "lease",
                                                       "step_timeout",
                                                       "join_timeout",
                                                       "tensorboard_dir",
                                                       "checkpoint_dir",
                                                       "keep_checkpoints",
                                                       "placement"};
  const std::vector<std::string>& of_servers = ServerSettings();
  return names->count(setting) > 0 ||
         std::find(of_servers.begin(), of_servers.end(), setting) != of_servers.end();
}

Values BuildOf(const RunResult& run) {
  const Provenance& provenance = run.provenance();
  Values values = {{"build commit", provenance.build_commit()},
                   {"build type", provenance.build_type()},
                   {"compiler", provenance.compiler()}};
  for (const auto& [name, version] : provenance.versions()) values["version of " + name] = version;
  return values;
}

Values MachineOf(const RunResult& run) {
  const Provenance& provenance = run.provenance();
  return {{"kernel", provenance.kernel()},
          {"CPU model", provenance.cpu_model()},
          {"cores", Known(provenance.cores())},
          {"memory in GiB", Known(provenance.memory_bytes() >> 30)},
          {"huge pages", provenance.huge_pages()}};
}

Values Invariants(const RunResult& run) {
  Values values;
  for (const auto& [name, value] : run.settings()) {
    if (!MayDiffer(name)) values[name] = value;
  }
  values["parameters"] = absl::StrCat(run.parameter_elements());
  values.merge(BuildOf(run));
  values.merge(MachineOf(run));
  return values;
}

std::string InvariantOf(const RunResult& run, const std::string& name) {
  const auto setting = run.settings().find(name);
  if (setting != run.settings().end()) return setting->second;
  const Values values = Invariants(run);
  const auto found = values.find(name);
  return found == values.end() ? "" : found->second;
}

std::vector<std::string> DifferingInvariants(const RunResult& a, const RunResult& b) {
  const Values of_a = Invariants(a);
  const Values of_b = Invariants(b);
  std::vector<std::string> differing;
  for (const std::string& name : NamesOf(of_a, of_b)) {
    if (!Heeds(a.strategy(), name) || !Heeds(b.strategy(), name)) continue;
    if (ValueOr(of_a, name) != ValueOr(of_b, name)) differing.push_back(name);
  }
  return differing;
}

std::vector<std::string> DescribeDifferences(const Values& a, absl::string_view a_name,
                                             const Values& b, absl::string_view b_name) {
  std::vector<std::string> differences;
  for (const std::string& name : NamesOf(a, b)) {
    const std::string of_a = ValueOr(a, name);
    const std::string of_b = ValueOr(b, name);
    if (of_a == of_b) continue;
    differences.push_back(
        absl::StrCat(name, " is ", of_a, " in ", a_name, " and ", of_b, " in ", b_name));
  }
  return differences;
}

}  // namespace ringside
