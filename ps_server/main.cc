// `ps_server`: one shard of the parameter server of a job with --strategy=ps.

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "common/config/flag_parser.h"
#include "common/config/job_flags.h"
#include "common/launch/launch_identity.h"
#include "common/logging.h"
#include "common/process_memory.h"
#include "common/status_macros.h"
#include "ps_server/server_config.h"
#include "ps_server/shard_process.h"
#include "ps_server/termination_signal.h"

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
  ringside::ShardProcess process(*config);
  const ringside::TerminationSignal signal([&process] { process.Terminate(); });
  return ringside::ExitStatus(process.Run());
}
