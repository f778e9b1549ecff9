#include "experiments/doctor/checks.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace ringside {
namespace {

constexpr int64_t kMib = int64_t{1} << 20;
constexpr int64_t kGib = int64_t{1} << 30;
constexpr int64_t kEnoughMemory = 2 * kGib;
constexpr int64_t kEnoughShm = 256 * kMib;
constexpr int64_t kEnoughFiles = 1024;
// One for each process of a small job: coordinator, two shards, four workers.
constexpr int kEnoughPorts = 8;

std::string Size(int64_t bytes) {
  if (bytes >= kGib) return absl::StrFormat("%.1f GiB", static_cast<double>(bytes) / kGib);
  return absl::StrCat(bytes / kMib, " MiB");
}

Finding CheckCores(const SystemFacts& facts) {
  if (facts.cores >= 2) return {Health::kOk, "cores", absl::StrCat(facts.cores), ""};
  return {Health::kWarn, "cores", absl::StrCat(facts.cores),
          "all processes share one core: timings say little; use a machine with two or more"};
}

Finding CheckMemory(const SystemFacts& facts) {
  if (facts.memory_bytes >= kEnoughMemory)
    return {Health::kOk, "memory", Size(facts.memory_bytes), ""};
  return {Health::kWarn, "memory", Size(facts.memory_bytes),
          absl::StrCat("each worker takes some 300 MiB; ", Size(kEnoughMemory),
                       " or more are advised")};
}

Finding CheckBlas(const SystemFacts& facts) {
  constexpr char kInstall[] = "apt-get install libopenblas0-pthread";
  if (facts.blas_path.empty())
    return {Health::kFail, "BLAS", "libblas.so.3 is not found", kInstall};
  if (absl::StrContains(facts.blas_path, "openblas") || absl::StrContains(facts.blas_path, "mkl") ||
      absl::StrContains(facts.blas_path, "blis") || absl::StrContains(facts.blas_path, "atlas")) {
    return {Health::kOk, "BLAS", facts.blas_path, ""};
  }
  return {Health::kWarn, "BLAS",
          absl::StrCat("reference BLAS (", facts.blas_path, "): training is 7 to 10 times slower"),
          kInstall};
}

Finding CheckHugePages(const SystemFacts& facts) {
  const std::string fact = absl::StrCat(
      facts.huge_pages.empty() ? "none" : facts.huge_pages,
      "; shared memory: ", facts.shmem_huge_pages.empty() ? "none" : facts.shmem_huge_pages);
  if (absl::StrContains(facts.huge_pages, "[always]") ||
      absl::StrContains(facts.huge_pages, "[madvise]")) {
    return {Health::kOk, "huge pages", fact, ""};
  }
  return {Health::kWarn, "huge pages", fact,
          "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
}

Finding CheckShm(const SystemFacts& facts) {
  if (!facts.shm_bytes) {
    return {Health::kWarn, "/dev/shm", "is not there", "mount -t tmpfs -o size=1g tmpfs /dev/shm"};
  }
  if (*facts.shm_bytes >= kEnoughShm) return {Health::kOk, "/dev/shm", Size(*facts.shm_bytes), ""};
  return {Health::kWarn, "/dev/shm", Size(*facts.shm_bytes),
          "mount -o remount,size=1g /dev/shm (containers: docker run --shm-size=1g)"};
}

Finding CheckCongestionControl(const SystemFacts& facts) {
  const std::string fact =
      absl::StrCat(facts.congestion_control.empty() ? "unknown" : facts.congestion_control,
                   " in force; available: ", facts.available_congestion_controls);
  if (facts.congestion_control != "bbr") return {Health::kOk, "TCP", fact, ""};
  const std::vector<std::string> available =
      absl::StrSplit(facts.available_congestion_controls, ' ');
  const bool has_cubic = std::find(available.begin(), available.end(), "cubic") != available.end();
  const std::string other = has_cubic ? "cubic" : "reno";
  return {Health::kWarn, "TCP",
          absl::StrCat(fact, "; bbr moves less than half of what cubic does on one host"),
          absl::StrCat("--congestion_control=", other,
                       " for the ring's sockets; sysctl -w net.ipv4.tcp_congestion_control=", other,
                       " for all, gRPC's included")};
}

Finding CheckOpenFiles(const SystemFacts& facts) {
  const std::string fact = absl::StrCat(facts.open_files, " (at most ", facts.open_files_max, ")");
  if (facts.open_files >= kEnoughFiles) return {Health::kOk, "open files", fact, ""};
  return {Health::kWarn, "open files", fact, absl::StrCat("ulimit -n ", kEnoughFiles)};
}

Finding CheckPorts(const SystemFacts& facts) {
  const std::string range = absl::StrCat("--port_range=", facts.port_range);
  if (!facts.port_range_status.ok()) {
    return {Health::kFail, "ports", std::string(facts.port_range_status.message()),
            "e.g. --port_range=4000-4099"};
  }
  if (facts.ports == 0) {
    if (facts.free_ports > 0) return {Health::kOk, "ports", "any free one", ""};
    return {Health::kFail, "ports", "cannot listen on loopback",
            "look at firewall, seccomp and `ip addr show lo`"};
  }
  const std::string fact =
      absl::StrCat(range, ": ", facts.free_ports, " of ", facts.ports, " free on loopback");
  if (facts.free_ports == 0)
    return {Health::kFail, "ports", fact, "name another range, or leave --port_range out"};
  if (facts.free_ports >= kEnoughPorts) return {Health::kOk, "ports", fact, ""};
  return {Health::kWarn, "ports", fact,
          "each process takes one, and so does the coordinator: widen --port_range"};
}

Finding CheckBinaries(const SystemFacts& facts) {
  if (facts.missing_binaries.empty()) {
    return {Health::kOk, "binaries", absl::StrCat("worker, ps_server in ", facts.binary_dir), ""};
  }
  return {
      Health::kFail, "binaries",
      absl::StrCat(absl::StrJoin(facts.missing_binaries, ", "), " missing in ", facts.binary_dir),
      "build all targets: cmake --build <build folder>"};
}

Finding CheckGnuplot(const SystemFacts& facts) {
  if (facts.gnuplot) return {Health::kOk, "gnuplot", "found", ""};
  return {Health::kWarn, "gnuplot", "not found: reports have no figures",
          "apt-get install gnuplot-nox"};
}

Finding CheckNetworkEmulation(const SystemFacts& facts) {
  if (facts.network_emulation.ok()) {
    return {Health::kOk, "--network", "bandwidth and latency can be emulated", ""};
  }
  return {Health::kWarn, "--network", std::string(facts.network_emulation.message()),
          "only emulated networks need it; no other job does"};
}

// What the layout must be is in the message of the loader.
Finding CheckData(const SystemFacts& facts) {
  if (facts.data.ok()) return {Health::kOk, "data", *facts.data, ""};
  return {facts.data_given ? Health::kFail : Health::kWarn, "data",
          std::string(facts.data.status().message()),
          "--data_dir=DIR with those files, or --dataset=synthetic, which needs none; for mnist "
          "data/mnist10k of the source tree has them"};
}

std::string Label(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kWarn:
      return "warn";
    case Health::kFail:
      return "FAIL";
  }
  return "";
}

}  // namespace

std::vector<Finding> CheckSystem(const SystemFacts& facts) {
  std::vector<Finding> findings = {CheckCores(facts),
                                   CheckMemory(facts),
                                   CheckBlas(facts),
                                   CheckHugePages(facts),
                                   CheckShm(facts),
                                   CheckCongestionControl(facts),
                                   CheckOpenFiles(facts),
                                   CheckPorts(facts),
                                   CheckBinaries(facts),
                                   CheckGnuplot(facts),
                                   CheckNetworkEmulation(facts),
                                   CheckData(facts)};
  const std::string versions =
      absl::StrJoin(facts.versions, ", ",
                    [](std::string* out, const std::pair<std::string, std::string>& version) {
                      absl::StrAppend(out, version.first, " ", version.second);
                    });
  findings.push_back({Health::kOk, "versions", versions, ""});
  return findings;
}

bool AnyFailure(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.health == Health::kFail; });
}

std::string Format(const Finding& finding) {
  std::string text =
      absl::StrFormat("%-4s  %-11s %s\n", Label(finding.health), finding.subject, finding.fact);
  if (!finding.remedy.empty())
    absl::StrAppendFormat(&text, "%18sto mend: %s\n", "", finding.remedy);
  return text;
}

}  // namespace ringside
