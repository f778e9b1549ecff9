// `worker`: trains one rank of a job (or all of them, with --strategy=local).

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/flag_parser.h"
#include "common/config/job_flags.h"
#include "common/launch/launch_identity.h"
#include "common/logging.h"
#include "common/process_memory.h"
#include "common/status_macros.h"
#include "worker/worker_config.h"
#include "worker/worker_job.h"

namespace {

constexpr char kUsage[] =
    "worker: trains one rank of a job, together with the workers and servers of the other ranks.\n"
    "\n"
    "  worker --strategy=local --workers=4 --epochs=5              all ranks in one process\n"
    "  worker --coordinator=HOST:PORT --rank=R --workers=N ...     one rank; the same job flags on "
    "all\n"
    "\n"
    "The coordinator is `ringside coordinator`, or worker 0 with --host_coordinator. Under "
    "torchrun,\n"
    "Slurm, Open MPI, PMI and Kubeflow the rank and the number of workers need no flags.\n"
    "`ringside run` starts all processes of a job on this machine.\n"
    "\n"
    "Flags and their defaults:\n";

absl::StatusOr<ringside::WorkerConfig> ConfigFrom(const ringside::CommandLine& command_line,
                                                  int argc, char** argv) {
  if (!command_line.positional.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unexpected argument ", command_line.positional[0], "; worker takes flags only"));
  }
  const ringside::Environment environment = ringside::ReadEnvironment();
  RINGSIDE_ASSIGN_OR_RETURN(const ringside::JobConfig job, ringside::JobConfigFromFlags());
  return ringside::MakeWorkerConfig(job,
                                    ringside::ProcessConfigFromFlags(command_line, environment),
                                    environment, std::vector<std::string>(argv, argv + argc));
}

}  // namespace

int main(int argc, char** argv) {
  ringside::SetLogName("worker");
  const auto command_line = ringside::ParseFlags(argc, argv);
  if (!command_line.ok()) return ringside::ExitStatus(command_line.status());
  if (command_line->help) {
    std::printf("%s%s", kUsage, ringside::FlagHelp().c_str());
    return 0;
  }
  const auto config = ConfigFrom(*command_line, argc, argv);
  if (!config.ok()) return ringside::ExitStatus(config.status());
  ringside::SetUpAllocator(config->job.malloc);
  ringside::SetLogName(absl::StrCat("worker ", config->rank));
  return ringside::ExitStatus(ringside::WorkerJob(*config).Run());
}
