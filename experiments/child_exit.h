// How a child process ended. Pure.
#ifndef RINGSIDE_EXPERIMENTS_CHILD_EXIT_H_
#define RINGSIDE_EXPERIMENTS_CHILD_EXIT_H_

#include <string>

namespace ringside {

struct ChildExit {
  int status = 0;  // meaningful where signal is 0
  int signal = 0;  // the signal that killed it; 0: it ended by itself

  bool ok() const { return status == 0 && signal == 0; }
};

// From what waitpid gave for a process that has ended.
ChildExit ChildExitFromWaitStatus(int wait_status);

// "exit status 1", "killed by signal 9 (Killed)"
std::string ToString(const ChildExit& exit);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CHILD_EXIT_H_
