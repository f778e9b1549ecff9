#include "experiments/sweep/sweep_identity.h"

#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/process_info.h"
#include "common/provenance.h"
#include "common/sha256.h"
#include "experiments/report/text_file.h"

namespace ringside {
namespace {

std::string HashOfFile(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadTextFile(path);
  return bytes.ok() ? Sha256Hex(*bytes) : "";
}

std::string MachineId() {
  const absl::StatusOr<std::string> text = ReadTextFile("/etc/machine-id");
  return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
}

std::string ValueOf(const SweepIdentity& identity, const std::string& name) {
  const auto found = identity.find(name);
  return found == identity.end() ? "not told" : absl::StrCat("\"", found->second, "\"");
}

}  // namespace

SweepIdentity BuildAndMachine(const std::string& binary_dir) {
  const Provenance provenance = ReadProvenance(absl::UnixEpoch());
  const ProcessInfo process = ReadProcessInfo();
  SweepIdentity identity = {
      {"build commit", provenance.build_commit()},
      {"build type", provenance.build_type()},
      {"host name", process.hostname()},
      {"machine id", MachineId()},
      {"CPU model", provenance.cpu_model()},
      {"cores", absl::StrCat(provenance.cores())},
      {"CPUs that may be used", absl::StrJoin(process.cpus(), ",")},
      {"kernel", provenance.kernel()},
  };
  for (const char* binary : {"ringside", "worker", "ps_server"}) {
    identity[absl::StrCat("SHA-256 of ", binary)] =
        HashOfFile(absl::StrCat(binary_dir, "/", binary));
  }
  return identity;
}

std::vector<std::string> Differences(const SweepIdentity& before, const SweepIdentity& now) {
  std::set<std::string> names;
  for (const SweepIdentity* identity : {&before, &now}) {
    for (const auto& [name, value] : *identity) names.insert(name);
  }
  std::vector<std::string> differences;
  for (const std::string& name : names) {
    const std::string then = ValueOf(before, name);
    const std::string today = ValueOf(now, name);
    if (then != today) differences.push_back(absl::StrCat(name, " was ", then, " and is ", today));
  }
  return differences;
}

}  // namespace ringside
