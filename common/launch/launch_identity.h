// Who this process is, read from flags or from what a launcher left in the environment. Pure: the
// environment is a map.
//
// Looked at in this order; the first that applies decides everything: flags, torchrun, Slurm step,
// Open MPI, PMI, Kubeflow. Never a silent fallback to a world of one.
//
// Where worker 0 hosts the coordinator: torchrun and Kubeflow, MASTER_ADDR:MASTER_PORT, or the next
// port where torchrun's agent holds that one (TORCHELASTIC_USE_AGENT_STORE); Slurm, the first host
// of the step at port 20000 + (job + 37 * step) mod 12000. Inside a Slurm step, variables of an MPI
// launcher come first, because its ranks inherit those of the step that started it.
#ifndef RINGSIDE_COMMON_LAUNCH_LAUNCH_IDENTITY_H_
#define RINGSIDE_COMMON_LAUNCH_LAUNCH_IDENTITY_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace ringside {

using Environment = std::map<std::string, std::string>;

// What the flags say; unset where the user gave none.
struct IdentityFlags {
  absl::optional<int> rank;        // of the worker, or number of the shard
  absl::optional<int> world_size;  // processes of this role
  std::string coordinator;         // host:port, may be empty
};

struct LaunchIdentity {
  std::string source;  // "flags", "torchrun", "Slurm", "Open MPI", "PMI", "Kubeflow"
  int rank = 0;
  int world_size = 1;
  absl::optional<int> local_rank;
  absl::optional<int> local_size;
  std::vector<std::string> hosts;  // in rank order, where the launcher tells
  std::string coordinator;  // host:port; empty where the launcher tells none and the flags neither
  // True where the address is the launcher's convention rather than the user's word: then worker 0
  // hosts the coordinator.
  bool rank0_hosts_coordinator = false;
};

// INVALID_ARGUMENT, naming the variable and its value: malformed, rank outside the world, a
// variable that its launcher always sets is missing, flags and environment contradict each other.
// FAILED_PRECONDITION: nothing says what the rank is.
absl::StatusOr<LaunchIdentity> ReadLaunchIdentity(const IdentityFlags& flags,
                                                  const Environment& environment);

// This process's environment as a map; for main.
Environment ReadEnvironment();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_LAUNCH_LAUNCH_IDENTITY_H_
