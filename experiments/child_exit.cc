#include "experiments/child_exit.h"

#include <string.h>
#include <sys/wait.h>

#include "absl/strings/str_cat.h"

namespace ringside {

ChildExit ChildExitFromWaitStatus(int wait_status) {
  ChildExit exit;
  if (WIFSIGNALED(wait_status)) {
    exit.signal = WTERMSIG(wait_status);
  } else {
    exit.status = WEXITSTATUS(wait_status);
  }
  return exit;
}

std::string ToString(const ChildExit& exit) {
  if (exit.signal == 0) return absl::StrCat("exit status ", exit.status);
  return absl::StrCat("killed by signal ", exit.signal, " (", strsignal(exit.signal), ")");
}

}  // namespace ringside
