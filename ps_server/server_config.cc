#include "ps_server/server_config.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

absl::Status RequireAtLeastOne(absl::string_view flag, int value) {
  if (value >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", value, ": must be at least 1"));
}

absl::Status RequirePositive(absl::string_view flag, absl::Duration value) {
  if (value > absl::ZeroDuration()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", absl::FormatDuration(value), ": must be positive"));
}

bool IsPortOrAny(int value) { return value >= 0 && value <= 65535; }

}  // namespace

absl::StatusOr<ServerConfig> MakeServerConfig(const JobConfig& job, const ProcessConfig& process,
                                              bool shards_given, const Environment& environment) {
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeastOne("workers", job.workers));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeastOne("ps_shards", job.ps_shards));
  if (job.shard_threads < 1 || job.shard_threads > kMaxShardThreads) {
    return absl::InvalidArgumentError(absl::StrCat("--shard_threads=", job.shard_threads,
                                                   ": must be at least 1 and at most ",
                                                   kMaxShardThreads));
  }
  RINGSIDE_RETURN_IF_ERROR(RequirePositive("step_timeout", job.step_timeout));
  RINGSIDE_RETURN_IF_ERROR(RequirePositive("join_timeout", job.join_timeout));
  RINGSIDE_RETURN_IF_ERROR(job.grpc.Validate());
  if (job.malloc != "tuned" && job.malloc != "stock") {
    return absl::InvalidArgumentError(
        absl::StrCat("--malloc=", job.malloc, ": must be one of tuned, stock"));
  }
  if (process.rank.has_value() && (*process.rank < 0 || *process.rank >= job.ps_shards)) {
    return absl::InvalidArgumentError(absl::StrCat("--shard=", *process.rank,
                                                   ": must be from 0 to ", job.ps_shards - 1,
                                                   " with --ps_shards=", job.ps_shards));
  }
  if (process.metrics_port.has_value() && !IsPortOrAny(*process.metrics_port)) {
    return absl::InvalidArgumentError(absl::StrCat("--metrics_port=", *process.metrics_port,
                                                   ": must be from 0 (any free port) to 65535"));
  }
  IdentityFlags flags{process.rank, {}, process.coordinator};
  if (shards_given || process.rank.has_value()) flags.world_size = job.ps_shards;
  RINGSIDE_ASSIGN_OR_RETURN(const LaunchIdentity identity, ReadLaunchIdentity(flags, environment));
  if (identity.coordinator.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--coordinator is missing: ", identity.source,
                     " does not say where the coordinator is; give its host:port"));
  }
  ServerConfig config;
  RINGSIDE_ASSIGN_OR_RETURN(config.coordinator, ParseEndpoint(identity.coordinator));
  if (config.coordinator.port == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--coordinator=", identity.coordinator, ": must have a port other than 0"));
  }
  config.shard = identity.rank;
  config.num_shards = identity.world_size;
  config.workers = job.workers;
  config.network = process.network;
  config.token = process.token;
  config.snapshot_folder = job.snapshot_folder();
  config.grpc = job.grpc;
  config.malloc = job.malloc;
  config.shard_threads = job.shard_threads;
  config.step_timeout = job.step_timeout;
  config.join_timeout = job.join_timeout;
  config.metrics_port = process.metrics_port;
  return config;
}

}  // namespace ringside
