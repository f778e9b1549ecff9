#include "experiments/signal_wait.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>

namespace ringside {
namespace {

sigset_t JobSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

void BlockJobSignals() {
  // A parent that ignores SIGCHLD hands that down, and then children cannot be waited for.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, nullptr);
  const sigset_t signals = JobSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void UnblockJobSignals() {
  const sigset_t signals = JobSignals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

bool EndOfJobIsAsked() {
  sigset_t pending;
  if (sigpending(&pending) != 0) return false;
  return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
         sigismember(&pending, SIGHUP) == 1;
}

int WaitForJobSignal(absl::Duration timeout) {
  const sigset_t signals = JobSignals();
  const timespec limit = absl::ToTimespec(std::max(timeout, absl::ZeroDuration()));
  const int signal = sigtimedwait(&signals, nullptr, &limit);
  return signal > 0 ? signal : 0;
}

}  // namespace ringside
