#include "experiments/coordinator_command.h"

#include <signal.h>
#include <stdio.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/job_flags.h"
#include "common/coordinator/coordinator_server.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/logging.h"
#include "common/network/bind_address.h"
#include "common/status_macros.h"
#include "experiments/experiment_flags.h"
#include "experiments/signal_wait.h"

namespace ringside {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);

// What is not said on the command line is what the first member to join says.
absl::StatusOr<CoordinatorServer::Config> ReadConfig(const CommandContext& context) {
  const CommandLine& line = context.command_line;
  RINGSIDE_RETURN_IF_ERROR(RequireFlagsOf("coordinator", line));
  RINGSIDE_ASSIGN_OR_RETURN(JobConfig job, JobConfigFromFlags());
  // The coordinator trains nothing: how long the job is does not concern it.
  if (job.steps == 0 && job.epochs == 0) job.steps = 1;
  RINGSIDE_RETURN_IF_ERROR(job.Validate());
  const ProcessConfig process = ProcessConfigFromFlags(line, context.environment);
  if (process.coordinator.empty()) {
    return absl::InvalidArgumentError(
        "--coordinator= : must be host:port, e.g. --coordinator=10.0.0.1:4000");
  }
  RINGSIDE_ASSIGN_OR_RETURN(const Endpoint endpoint, ParseEndpoint(process.coordinator));
  CoordinatorServer::Config config;
  RINGSIDE_ASSIGN_OR_RETURN(config.bind, ChooseCoordinatorBind(process.network, endpoint));
  config.token = process.token;
  if (line.Has("workers")) config.world_size = job.worker_processes();
  if (line.Has("strategy")) {
    config.num_shards = job.shards();
  } else if (line.Has("ps_shards")) {
    config.num_shards = job.ps_shards;
  }
  config.lease = job.lease;
  config.join_timeout = job.join_timeout;
  config.restart_shards = job.restart_shards;
  config.announce = [](const std::string& text) { LogInfo(text); };
  return config;
}

}  // namespace

int CoordinatorCommand(const CommandContext& context) {
  SetLogName("coordinator");
  absl::StatusOr<CoordinatorServer::Config> config = ReadConfig(context);
  if (!config.ok()) return ExitStatus(config.status());
  const absl::Time join_deadline = MonotonicNow() + config->join_timeout;
  absl::StatusOr<std::unique_ptr<CoordinatorServer>> server =
      CoordinatorServer::Start(*std::move(config));
  if (!server.ok()) {
    ExitStatus(server.status());
    return 2;  // the address or the port is what the user named
  }
  printf("coordinator at %s\n", ToString((*server)->endpoint()).c_str());
  fflush(stdout);
  bool joined = false;
  while (!(*server)->AwaitEnd(absl::ZeroDuration())) {
    const int signal = WaitForJobSignal(kTick);
    if (signal != 0 && signal != SIGCHLD && signal != SIGUSR1) {
      LogError(absl::StrCat("interrupted by signal ", signal));
      return 128 + signal;
    }
    joined = joined || !(*server)->Members().empty();
    if (!joined && MonotonicNow() > join_deadline) {
      return ExitStatus(
          absl::DeadlineExceededError("not all members joined within --join_timeout"));
    }
  }
  const absl::optional<Verdict> verdict = (*server)->verdict();
  if (verdict) return ExitStatus(absl::AbortedError(verdict->reason()));
  LogInfo("all members have left in good order");
  return 0;
}

}  // namespace ringside
