// Runs one job on this host: a coordinator in this process, servers and workers as children, until
// all have ended.
//
// Call from the main thread, with BlockJobSignals() called before any other thread began. Whatever
// happens, no child is left when Run returns; should this process be killed, the kernel kills the
// children (child_process.h).
#ifndef RINGSIDE_EXPERIMENTS_LAUNCHER_H_
#define RINGSIDE_EXPERIMENTS_LAUNCHER_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "common/config/job_config.h"
#include "common/coordinator/coordinator_server.h"
#include "common/launch/launch_identity.h"
#include "common/mutex.h"
#include "common/network/bind_address.h"
#include "experiments/child_process.h"
#include "experiments/job_supervisor.h"
#include "experiments/network/job_network.h"
#include "experiments/progress_line.h"

namespace ringside {

// How a job ended.
struct JobOutcome {
  int launcher_status = 0;           // what the launcher should exit with
  std::string error;                 // one line; empty where all went well
  std::vector<std::string> details;  // for an error: one line for each process that failed
  int restarts = 0;                  // how often a shard was started again
  bool ok() const { return launcher_status == 0; }
};

// What goes before a line of progress, at a moment of the monotonic clock.
using LiveTitle = std::function<std::string(absl::Time now)>;

class Launcher {
 public:
  struct Config {
    JobConfig job;           // validated
    NetworkOptions network;  // empty: loopback, any port
    // Where processes and coordinator meet, instead of where `network` says, which then may have a
    // port range alone. Not owned; null: in this process's own network namespace.
    const JobNetwork* emulated = nullptr;
    std::string binary_dir;   // holds `worker` and `ps_server`
    std::string log_dir;      // exists; gets worker-<rank>.log and shard-<number>.log,
                              // and shard-<number>.restart-<k>.log for its k-th restart
    std::string title;        // before each line of progress; may be empty
    LiveTitle live_title;     // instead of it where it is set
    Environment environment;  // of this process
    bool terminal = false;    // show one live line rather than some lines
    // Of shard 0; shard s gets the port + s, or any free one where it is 0. Unset: no metrics.
    absl::optional<int> metrics_port;
  };

  // NOT_FOUND: a binary is missing, says which; INVALID_ARGUMENT, UNAVAILABLE: the network options
  // cannot be met.
  static absl::StatusOr<std::unique_ptr<Launcher>> Create(Config config);

  // Starts everything and waits for the end. Once only.
  JobOutcome Run();

 private:
  explicit Launcher(Config config);

  absl::Status StartCoordinator();
  absl::Status SpawnAll();
  std::vector<std::string> ArgumentsOf(const MemberId& member) const;
  absl::StatusOr<ChildProcess> SpawnOne(const MemberId& member, int restarts) const;
  void Watch();
  void ReapChildren(absl::Time now);
  void Restart(size_t index, absl::Time now);
  // A shard that counts as lost but runs, e.g. stopped, must make room for its successor.
  void EndLostShards();
  void AskCoordinator(absl::Time now);
  void SignalGroup(int signal);
  void SignalWorker0(int signal);
  void ShowProgress(absl::Time now);
  void Show(const std::string& line, absl::Time now);
  JobOutcome Outcome() const;
  std::string LogPath(const MemberId& member, int restarts) const;

  // Constant after Create.
  const Config config_;
  std::string token_;
  std::unique_ptr<JobSupervisor> supervisor_;
  bool save_asked_ = false;             // by SIGUSR1; worker 0 has not been told
  std::vector<ChildProcess> children_;  // in the order of the supervisor's processes
  pid_t group_ = 0;                     // of all of them; the first one's id, who may be gone
  std::set<pid_t> ended_;               // by EndLostShards
  std::unique_ptr<ProgressPrinter> printer_;
  ProgressMeter meter_;
  absl::Time next_progress_ = absl::InfinitePast();
  // The coordinator's last word on who is missing, from a thread of its own.
  Mutex mutex_;
  std::string announcement_ ABSL_GUARDED_BY(mutex_);
  // Last, so that its threads end before what they write to.
  std::unique_ptr<CoordinatorServer> coordinator_;
};

// Who takes part in a job: shards first, because workers look for them.
std::vector<MemberId> JobMembers(const JobConfig& job);
// "--metrics_port=9102" for shard 2 where shard 0 has 9100; 0 for all where that is 0.
std::string MetricsFlag(int metrics_port, int shard);
// "worker-0", "shard-1": the stem of log files.
std::string LogName(const MemberId& member);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAUNCHER_H_
