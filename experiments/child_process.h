// One child process: started, watched and ended by its parent, which it never outlives.
//
// Thread-compatible. Spawn from the main thread only: the kernel ties a child's parent-death signal
// to the thread that forked it. Between fork and exec only async-signal-safe calls are made, so
// gRPC's threads may be running.
#ifndef RINGSIDE_EXPERIMENTS_CHILD_PROCESS_H_
#define RINGSIDE_EXPERIMENTS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "experiments/child_exit.h"

namespace ringside {

class ChildProcess {
 public:
  struct Config {
    std::string binary;                    // path
    std::vector<std::string> arguments;    // without argv[0], which is `binary`
    std::vector<std::string> environment;  // "NAME=value", all of it
    std::string log_path;                  // gets standard output and error; truncated
    pid_t group = 0;  // process group to enter; 0: a new one that the child leads
    // Both are lent until Spawn returns.
    int input_fd = -1;              // standard input; -1: /dev/null
    int network_namespace_fd = -1;  // where the child runs; -1: where this process does
  };

  // The child gets no other descriptor of ours than those below, an empty signal mask
  // and default dispositions, and SIGKILL when this process ends however it ends. NOT_FOUND: the
  // binary is missing; PERMISSION_DENIED: the log cannot be written; INTERNAL: the kernel refuses,
  // with its reason.
  static absl::StatusOr<ChildProcess> Spawn(const Config& config);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  // Kills with SIGKILL what still runs, and reaps it.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  // Reaps the child if it has ended. Never blocks. After the first time with a value, always that
  // value.
  const absl::optional<ChildExit>& Poll();
  bool running() const { return pid_ > 0 && !exit_.has_value(); }

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  void KillAndReap();

  pid_t pid_ = -1;  // -1: moved from
  absl::optional<ChildExit> exit_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CHILD_PROCESS_H_
