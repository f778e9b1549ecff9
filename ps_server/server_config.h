// What one `ps_server` process needs to know, taken from flags and from the launcher's environment.
// Pure.
#ifndef RINGSIDE_PS_SERVER_SERVER_CONFIG_H_
#define RINGSIDE_PS_SERVER_SERVER_CONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "common/config/job_config.h"
#include "common/config/job_flags.h"
#include "common/launch/launch_identity.h"
#include "common/network/bind_address.h"
#include "common/network/endpoint.h"
#include "common/network/grpc_tuning.h"

namespace ringside {

struct ServerConfig {
  int shard = 0;
  int num_shards = 1;
  int workers = 1;
  Endpoint coordinator;
  NetworkOptions network;
  std::string token;
  std::string snapshot_folder;  // empty: none
  GrpcTuning grpc;              // as the workers have it; the coordinator compares
  std::string malloc;           // the same
  int shard_threads = 1;        // that fold, of this shard; the same
  absl::Duration step_timeout;  // see ShardExecutor::Config
  absl::Duration join_timeout;
  absl::optional<int> metrics_port;  // of MetricsEndpoint; unset: none
};

// INVALID_ARGUMENT or FAILED_PRECONDITION, by flag or variable: no or a wrong shard number, too few
// shards or workers, no coordinator, a setting that is not allowed, a metrics port that is none.
// `shards_given`: whether
// --ps_shards was, which a launcher's environment must then agree with.
absl::StatusOr<ServerConfig> MakeServerConfig(const JobConfig& job, const ProcessConfig& process,
                                              bool shards_given, const Environment& environment);

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SERVER_CONFIG_H_
