// Runs real binaries in tests: with a deadline, with their output captured, and with proof that
// nothing is left behind.
#ifndef RINGSIDE_TESTS_TESTING_PROCESS_H_
#define RINGSIDE_TESTS_TESTING_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "common/mutex.h"

namespace ringside {

// A running binary. Thread-safe after Start. The destructor kills it with SIGKILL if it still runs,
// and reaps it.
class TestProcess {
 public:
  struct Config {
    std::vector<std::string> argv;  // argv[0]: path of the binary
    std::map<std::string, std::string>
        environment;                // added to this process's own; an empty value removes
    std::string working_directory;  // empty: this process's own
  };
  struct Ended {
    int status = -1;     // exit status; 128 + signal where a signal killed it; -1: still running at
                         // the deadline
    std::string output;  // standard output and error as they came, up to the end of the process
  };

  // Aborts the test program where the binary cannot be started: a broken build, not a finding.
  static std::unique_ptr<TestProcess> Start(const Config& config);
  ~TestProcess();
  TestProcess(const TestProcess&) = delete;
  TestProcess& operator=(const TestProcess&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;

  // Waits for the end. A process that still runs after `timeout` is not touched; its status is then
  // -1.
  Ended Wait(absl::Duration timeout);
  // What was written so far.
  std::string output() const;
  // Waits until `pattern` (a POSIX extended regular expression) is found in what was written; false
  // when the time is over or the output has ended.
  bool WaitForOutput(const std::string& pattern, absl::Duration timeout);

 private:
  TestProcess(pid_t pid, int output_fd);
  void ReadOutput(int output_fd);
  bool TryReap();

  const pid_t pid_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::string output_ ABSL_GUARDED_BY(mutex_);
  bool output_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_reading_ ABSL_GUARDED_BY(mutex_) = false;
  absl::optional<int> status_ ABSL_GUARDED_BY(mutex_);
  std::thread reader_;
};

// Starts, waits, and kills at the deadline.
TestProcess::Ended RunProcess(const TestProcess::Config& config, absl::Duration timeout);

struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';          // of /proc/<pid>/stat: R, S, D, T (stopped)
  std::string command_line;  // arguments joined with spaces
};

// All processes but zombies whose command line contains `text`: name something unique, such as a
// test's own folder.
std::vector<ProcessEntry> ProcessesMatching(const std::string& text);
// Children of `pid`, their children and so on; without zombies.
std::vector<ProcessEntry> DescendantsOf(pid_t pid);
// False where it has ended, reaped or not.
bool ProcessRuns(pid_t pid);
// Waits until ProcessesMatching(text) is empty; returns what is left when the time is over.
std::vector<ProcessEntry> AwaitNoProcessMatching(const std::string& text, absl::Duration timeout);
// Polls `condition` until it holds; false when the time is over.
bool AwaitCondition(const std::function<bool()>& condition, absl::Duration timeout);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_TESTING_PROCESS_H_
