#include "experiments/ceilings/ceiling_probe.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/logging.h"
#include "common/process_info.h"
#include "experiments/ceilings/memory_ceiling.h"
#include "experiments/ceilings/socket_ceiling.h"

namespace ringside {
namespace {

void WarnUnless(const absl::Status& status, absl::string_view what) {
  if (status.ok()) return;
  LogWarning(absl::StrCat("the ceiling of ", what, " is not known: ", status.message()));
}

Ceilings Probe() {
  Ceilings ceilings;
  ceilings.set_cores(std::max(1, ReadProcessInfo().cpus_size()));
  const absl::StatusOr<SocketCeiling> tcp = ProbeTcp();
  WarnUnless(tcp.status(), "TCP over loopback");
  if (tcp.ok()) *ceilings.mutable_tcp() = *tcp;
  const absl::StatusOr<SocketCeiling> uds = ProbeUnixSocket();
  WarnUnless(uds.status(), "Unix sockets");
  if (uds.ok()) *ceilings.mutable_uds() = *uds;
  const absl::StatusOr<MemoryCeilings> memory = ProbeMemory(ceilings.cores());
  WarnUnless(memory.status(), "memory");
  if (memory.ok()) {
    *ceilings.mutable_one_core() = memory->one_core;
    *ceilings.mutable_all_cores() = memory->all_cores;
    ceilings.set_cached_copy_bytes_per_s(memory->cached_copy_bytes_per_s);
  }
  return ceilings;
}

}  // namespace

bool NeedsCeilings(const JobConfig& job) {
  return job.network_hosts() == 0 && job.worker_processes() + job.shards() > 1;
}

const Ceilings& CeilingProbe::Get() {
  if (!ceilings_.has_value()) ceilings_ = Probe();
  return *ceilings_;
}

}  // namespace ringside
