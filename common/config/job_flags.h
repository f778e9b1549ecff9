// The flags of a job, the same for `ringside`, `worker` and `ps_server`: parsed here and nowhere
// else.
#ifndef RINGSIDE_COMMON_CONFIG_JOB_FLAGS_H_
#define RINGSIDE_COMMON_CONFIG_JOB_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "common/config/flag_parser.h"
#include "common/config/job_config.h"
#include "common/launch/launch_identity.h"
#include "common/network/bind_address.h"

namespace ringside {

// Reads the job flags after ParseFlags. Does not validate. Defaults are those of JobConfig.
// INVALID_ARGUMENT: a list whose entries are no numbers; --workers is a list, which only `ringside
// compare` takes.
absl::StatusOr<JobConfig> JobConfigFromFlags();
// The same with `workers` given by the caller, whatever --workers says.
absl::StatusOr<JobConfig> JobConfigFromFlags(int workers);
// --workers as a list, for `ringside compare`.
absl::StatusOr<std::vector<int>> WorkerCountsFromFlags();

// How this process is reached and where the others are: of `worker`, `ps_server` and `ringside
// coordinator`.
struct ProcessConfig {
  NetworkOptions network;
  std::string coordinator;           // host:port; empty: what the launcher's environment says
  std::string token;                 // --token, or RINGSIDE_TOKEN in the environment
  bool host_coordinator = false;     // worker 0 hosts the coordinator itself
  absl::optional<int> rank;          // --rank or --shard, when given
  absl::optional<int> world_size;    // --workers, when given
  absl::optional<int> metrics_port;  // --metrics_port, when given
};
ProcessConfig ProcessConfigFromFlags(const CommandLine& command_line,
                                     const Environment& environment);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CONFIG_JOB_FLAGS_H_
