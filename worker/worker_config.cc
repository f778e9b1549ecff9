#include "worker/worker_config.h"

#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// Results keep the command; they must not keep the secret.
std::vector<std::string> HideToken(std::vector<std::string> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::string_view name(arguments[i]);
    if (!absl::ConsumePrefix(&name, "-")) continue;
    absl::ConsumePrefix(&name, "-");
    if (absl::StartsWith(name, "token=")) arguments[i] = "--token=...";
    if (name == "token" && i + 1 < arguments.size()) arguments[i + 1] = "...";
  }
  return arguments;
}

absl::Status PlaceOneProcess(const ProcessConfig& process, const Environment& environment,
                             WorkerConfig* config) {
  if (process.rank.value_or(0) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--rank=", *process.rank, ": must be 0 with --strategy=", config->job.strategy,
                     ", whose one process plays all ranks"));
  }
  if (process.rank.has_value() || !process.coordinator.empty()) return absl::OkStatus();
  const auto identity = ReadLaunchIdentity({}, environment);
  if (identity.ok() && identity->world_size > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        identity->source, " started ", identity->world_size,
        " processes, but --strategy=", config->job.strategy, " is one that plays all ranks"));
  }
  config->host_coordinator = false;
  return absl::OkStatus();
}

absl::Status PlaceByIdentity(const ProcessConfig& process, const Environment& environment,
                             WorkerConfig* config) {
  RINGSIDE_ASSIGN_OR_RETURN(
      const LaunchIdentity identity,
      ReadLaunchIdentity({process.rank, process.world_size, process.coordinator}, environment));
  config->rank = identity.rank;
  config->local_rank = identity.local_rank;
  config->job.workers = identity.world_size;
  if (identity.coordinator.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--coordinator is missing: ", identity.source,
        " does not say where the coordinator is; give its host:port to all processes"));
  }
  RINGSIDE_ASSIGN_OR_RETURN(config->coordinator, ParseEndpoint(identity.coordinator));
  config->host_coordinator =
      identity.rank == 0 && (process.host_coordinator || identity.rank0_hosts_coordinator);
  return absl::OkStatus();
}

}  // namespace

std::vector<int> WorkerConfig::hosted_ranks() const {
  if (job.worker_processes() == job.workers) return {rank};
  std::vector<int> ranks(job.workers);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

absl::StatusOr<WorkerConfig> MakeWorkerConfig(const JobConfig& job, const ProcessConfig& process,
                                              const Environment& environment,
                                              const std::vector<std::string>& arguments) {
  WorkerConfig config;
  config.job = job;
  config.network = process.network;
  config.token = process.token;
  config.command = HideToken(arguments);
  // First the flags, so that a wrong strategy is not reported as a missing rank. How many ranks
  // there are, and so who may be slow, is not known yet.
  JobConfig told = job;
  told.stragglers.clear();
  RINGSIDE_RETURN_IF_ERROR(told.Validate());
  if (job.is_one_process()) {
    RINGSIDE_RETURN_IF_ERROR(PlaceOneProcess(process, environment, &config));
    if (!process.coordinator.empty()) {
      RINGSIDE_ASSIGN_OR_RETURN(config.coordinator, ParseEndpoint(process.coordinator));
      config.host_coordinator = process.host_coordinator;
    }
  } else {
    RINGSIDE_RETURN_IF_ERROR(PlaceByIdentity(process, environment, &config));
  }
  if (config.coordinator.has_value() && config.coordinator->port == 0) {
    return absl::InvalidArgumentError(absl::StrCat("--coordinator=", ToString(*config.coordinator),
                                                   ": must have a port other than 0"));
  }
  RINGSIDE_RETURN_IF_ERROR(config.job.Validate());
  return config;
}

std::string DescribeRate(const JobConfig& job) {
  const double told = job.optimizer.learning_rate;
  std::string scaling;
  if (job.lr_scaling != "none") {
    const char* const of = job.lr_scaling == "sqrt" ? "with the square root of" : "linear in";
    scaling = absl::StrCat(" (", told, ", ", of, " ", job.batches_per_step(),
                           job.batches_per_step() == 1 ? " batch" : " batches", " a step)");
  }
  return absl::StrCat("learning rate ", job.scaled_optimizer().learning_rate, scaling, ", batch ",
                      job.batch_size * job.accumulate, " a rank, ", job.global_batch_size(),
                      " in all");
}

}  // namespace ringside
