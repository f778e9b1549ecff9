// A child process whose output is kept in memory: nothing is left on disk, and its last words can
// be quoted.
#ifndef RINGSIDE_ALLREDUCE_BENCH_LOGGED_PROCESS_H_
#define RINGSIDE_ALLREDUCE_BENCH_LOGGED_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/network/socket.h"

namespace ringside {

// Thread-compatible. The destructor ends what still runs: SIGTERM, and SIGKILL to whoever does not
// heed it.
class LoggedProcess {
 public:
  // `argv[0]` is looked up in PATH. Standard input is empty; no other descriptors are passed on.
  // FAILED_PRECONDITION: the program cannot be started; names it and the reason.
  static absl::StatusOr<std::unique_ptr<LoggedProcess>> Start(
      const std::vector<std::string>& argv, const std::vector<std::string>& environment);
  ~LoggedProcess();
  LoggedProcess(const LoggedProcess&) = delete;
  LoggedProcess& operator=(const LoggedProcess&) = delete;

  pid_t pid() const { return pid_; }
  // For poll: readable once the process has ended.
  int end_fd() const { return end_.get(); }

  // Waits for the end; false when the time is over.
  bool WaitForEnd(absl::Time deadline);
  // "exit status 1", "killed by signal 9 (Killed)", "still running".
  std::string EndText() const;

  // Everything that it has written; the last 64 KiB of it.
  std::string Output() const;

 private:
  LoggedProcess(pid_t pid, FileDescriptor end, FileDescriptor log)
      : pid_(pid), end_(std::move(end)), log_(std::move(log)) {}

  const pid_t pid_;
  const FileDescriptor end_;
  const FileDescriptor log_;
  bool ended_ = false;
  int wait_status_ = 0;
};

// The last line of `output` that is not empty. With a `tag`, lines that begin with it go before all
// others, and it is taken off. "" where there is none.
std::string LastWords(absl::string_view output, absl::string_view tag);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_LOGGED_PROCESS_H_
