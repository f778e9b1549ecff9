// `worker`: trains one rank of a job (or all of them, with --strategy=local).

#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
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

// For the workers that save nothing, once they are told to end: worker 0 was too, usually, and its
// checkpoint, which it needs all others for, must not be lost. With it the whole job ends.
constexpr absl::Duration kPatience = absl::Seconds(20);

// Signals are events to wait for, in a thread of its own. Call before any other thread exists.
// Where the job saves no checkpoints, SIGTERM does what it always does.
void WaitForSignals(const ringside::WorkerConfig& config, ringside::TrainingSignals* signals) {
  const bool saves = config.job.checkpoints();
  const bool writes = saves && config.rank == 0;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  if (saves) sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread([set, writes, signals] {
    while (true) {
      int signal = 0;
      sigwait(&set, &signal);
      if (signal == SIGUSR1) {
        signals->save = true;
        if (!writes) {
          ringside::LogWarning(
              "SIGUSR1: nothing to save here; worker 0 of a job with --checkpoint_steps or "
              "--checkpoint_dir does");
        }
        continue;
      }
      const bool again = signals->end.exchange(true);
      if (!writes && !again) absl::SleepFor(kPatience);
      if (again || !signals->heeded) std::_Exit(128 + SIGTERM);
    }
  }).detach();
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
  static ringside::TrainingSignals signals;  // outlives the thread that waits
  WaitForSignals(*config, &signals);
  const absl::Status status = ringside::WorkerJob(*config, &signals).Run();
  const int exit_status = ringside::ExitStatus(status);
  return !status.ok() && signals.end ? 128 + SIGTERM : exit_status;
}
