#include "common/provenance.h"

#include <google/protobuf/stubs/common.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/build_info.h"

namespace ringside {
namespace {

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "model name")) continue;
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
    return std::string(absl::StripAsciiWhitespace(parts.back()));
  }
  return "";
}

std::string Kernel() {
  utsname names = {};
  if (uname(&names) != 0) return "";
  return absl::StrCat(names.sysname, " ", names.release, " ", names.machine);
}

// Of "always [madvise] never" the word in brackets.
std::string HugePages() {
  const std::string line = FirstLine("/sys/kernel/mm/transparent_hugepage/enabled");
  const size_t open = line.find('[');
  const size_t close = line.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return line;
  return line.substr(open + 1, close - open - 1);
}

std::string AbseilVersion() {
#if defined(ABSL_LTS_RELEASE_VERSION)
  return absl::StrCat(ABSL_LTS_RELEASE_VERSION, ".", ABSL_LTS_RELEASE_PATCH_LEVEL);
#else
  return "head";
#endif
}

}  // namespace

Provenance ReadProvenance(absl::Time started_at) {
  Provenance provenance;
  provenance.set_build_commit(RINGSIDE_BUILD_COMMIT);
  provenance.set_build_type(RINGSIDE_BUILD_TYPE);
  provenance.set_compiler(RINGSIDE_COMPILER);
  provenance.set_kernel(Kernel());
  provenance.set_cpu_model(CpuModel());
  provenance.set_cores(static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  provenance.set_memory_bytes(int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE));
  provenance.set_started_at(
      absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", started_at, absl::UTCTimeZone()));
  provenance.set_huge_pages(HugePages());
  auto& versions = *provenance.mutable_versions();
  versions["Abseil"] = AbseilVersion();
  versions["Protobuf"] = google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
  return provenance;
}

}  // namespace ringside
