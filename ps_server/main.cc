// `ps_server`: one shard of the parameter server of a job with --strategy=ps.

#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/config/flag_parser.h"
#include "common/config/job_flags.h"
#include "common/launch/launch_identity.h"
#include "common/logging.h"
#include "common/process_memory.h"
#include "common/status_macros.h"
#include "ps_server/server_config.h"
#include "ps_server/shard_process.h"

namespace {

constexpr char kUsage[] =
    "ps_server: one shard of the parameter server of a job with --strategy=ps.\n"
    "\n"
    "  ps_server --coordinator=HOST:PORT --shard=I --ps_shards=S --workers=N\n"
    "\n"
    "Start S of them, with numbers 0 to S-1. Under torchrun, Slurm, Open MPI, PMI and Kubeflow "
    "--shard and\n"
    "--ps_shards need not be given. All that concerns the model comes from the workers when they "
    "join.\n"
    "`ringside run --strategy=ps` starts all processes of a job on this machine.\n"
    "\n"
    "Flags and their defaults; only those of the network, --grpc_..., --malloc, --step_timeout and "
    "--join_timeout matter here:\n";

absl::StatusOr<ringside::ServerConfig> ConfigFrom(const ringside::CommandLine& command_line) {
  if (!command_line.positional.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unexpected argument ", command_line.positional[0], "; ps_server takes flags only"));
  }
  RINGSIDE_ASSIGN_OR_RETURN(const ringside::JobConfig job, ringside::JobConfigFromFlags());
  const ringside::Environment environment = ringside::ReadEnvironment();
  return ringside::MakeServerConfig(job,
                                    ringside::ProcessConfigFromFlags(command_line, environment),
                                    command_line.Has("ps_shards"), environment);
}

// SIGTERM is an event to wait for, in a thread of its own, so that what is kept can be saved. Call
// before any other thread exists.
void EndOnSignal(const std::weak_ptr<ringside::ShardProcess>& process) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, process] {
    int signal = 0;
    sigwait(&signals, &signal);
    if (const auto running = process.lock()) running->Terminate();
    std::_Exit(128 + SIGTERM);
  }).detach();
}

}  // namespace

int main(int argc, char** argv) {
  ringside::SetLogName("ps_server");
  const auto command_line = ringside::ParseFlags(argc, argv);
  if (!command_line.ok()) return ringside::ExitStatus(command_line.status());
  if (command_line->help) {
    std::printf("%s%s", kUsage, ringside::FlagHelp().c_str());
    return 0;
  }
  const auto config = ConfigFrom(*command_line);
  if (!config.ok()) return ringside::ExitStatus(config.status());
  ringside::SetUpAllocator(config->malloc);
  ringside::SetLogName(absl::StrCat("shard ", config->shard));
  const auto process = std::make_shared<ringside::ShardProcess>(*config);
  EndOnSignal(process);
  return ringside::ExitStatus(process->Run());
}
