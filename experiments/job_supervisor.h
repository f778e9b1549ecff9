// Decides how a job of child processes ends: who is to blame, when to signal the rest, what the
// launcher exits with.
//
// Pure: no processes, no clock; time comes in as `now`. Thread-compatible. The launcher feeds it
// what happens and sends the signals that it asks for. Stages: starting (until all have joined) ->
// running -> ending (from the first failure, verdict or interrupt on). A job that goes well never
// enters the last. A shard that fails while running may be started again instead, some times.
#ifndef RINGSIDE_EXPERIMENTS_JOB_SUPERVISOR_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUPERVISOR_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "coordinator.pb.h"
#include "experiments/child_exit.h"

namespace ringside {

class JobSupervisor {
 public:
  struct Config {
    std::vector<MemberId> members;  // in the order of the calls' `index`
    absl::Duration lease;           // after a verdict the others get this long to end by themselves
    absl::Duration join_timeout;
    absl::Duration step_timeout;
    int restart_shards = 0;  // how often a shard may be started again, of all together
    // Worker 0 saves the training when it gets SIGTERM, and needs all others until it has: the
    // first SIGTERM of a joined job is for it alone.
    bool saves_first = false;
  };
  struct Process {
    MemberId member;
    absl::optional<ChildExit> exit;  // unset: still running, or about to be started again
    int restarts = 0;                // of this process
    bool signaled = false;  // we had signaled the group before it ended: the exit says nothing
                            // about the process
  };

  JobSupervisor(Config config, absl::Time now);

  // The coordinator has all members.
  void OnJoined(absl::Time now);
  // True: start the process again, now; it counts as running all the while.
  bool OnExit(int index, const ChildExit& exit, absl::Time now);
  // It could not be started again, says `why`.
  void OnRestartFailed(int index, const ChildExit& exit, const std::string& why, absl::Time now);
  void OnVerdict(const Verdict& verdict, absl::Time now);
  // SIGINT, SIGTERM or SIGHUP for the launcher, SIGTERM perhaps for worker 0 first (saves_first).
  // The second one kills.
  void OnInterrupt(int signal, absl::Time now);

  // The signal to send to the whole group now; 0: none. Each is asked for once, except after a
  // second interrupt.
  int NextSignal(absl::Time now);
  // The signal to send to worker 0 alone; 0: none. Asked for once.
  int NextSignalForWorker0();
  bool AllEnded() const;

  const std::vector<Process>& processes() const { return processes_; }
  bool joined() const { return joined_; }
  int restarts() const { return restarts_; }  // of all processes
  // One line without the last words of the processes; empty where the job went well. Interrupts
  // count as failures.
  std::string Error() const;
  // Index of the process to blame; -1: none or not one of ours.
  int Culprit() const { return culprit_; }
  // 0; 2: the culprit ended by itself with 2, which is bad input; 128 + signal after an interrupt;
  // else 1.
  int LauncherStatus() const;

 private:
  bool MayRestart(const Process& process, const ChildExit& exit) const;
  void End(std::string error, int culprit, absl::Time terminate_at, absl::Time kill_at);
  void CheckGuards(absl::Time now);
  void HastenIfOnlyCulpritRemains(absl::Time now);
  // Worker 0, which saves the training, when all others have ended.
  bool OnlyTheWriterRuns() const;
  int Running(Role role) const;
  std::string NamesOfRunning() const;

  const Config config_;
  const absl::Time start_;
  std::vector<Process> processes_;
  bool joined_ = false;
  int restarts_ = 0;
  absl::optional<absl::Time> first_good_end_;    // of a worker
  absl::optional<absl::Time> workers_ended_at_;  // all of them, well
  // Ending.
  bool ending_ = false;
  std::string error_;
  int culprit_ = -1;
  bool has_verdict_ = false;
  int64_t verdict_step_ = 0;
  bool hastened_ = false;
  int interrupt_ = 0;
  int pending_interrupt_ = 0;  // to be passed on
  bool pending_save_ = false;  // as SIGTERM for worker 0
  bool saving_ = false;        // until worker 0 has ended
  bool terminated_ = false;
  bool killed_ = false;
  absl::Time terminate_at_ = absl::InfiniteFuture();
  absl::Time kill_at_ = absl::InfiniteFuture();
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUPERVISOR_H_
