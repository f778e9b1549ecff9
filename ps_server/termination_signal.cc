#include "ps_server/termination_signal.h"

#include <signal.h>

#include <cstdlib>
#include <thread>
#include <utility>

#include "common/mutex.h"

namespace ringside {

struct TerminationSignal::State {
  // Held by the thread of the signal from the call of `save` to the end of the process.
  Mutex mutex;
  std::function<void()> save ABSL_GUARDED_BY(mutex);
};

TerminationSignal::TerminationSignal(std::function<void()> save)
    : state_(std::make_shared<State>()) {
  {
    MutexLock lock(&state_->mutex);
    state_->save = std::move(save);
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, state = state_] {
    int signal = 0;
    sigwait(&signals, &signal);
    MutexLock lock(&state->mutex);
    if (state->save) state->save();
    std::_Exit(128 + SIGTERM);
  }).detach();
}

TerminationSignal::~TerminationSignal() {
  MutexLock lock(&state_->mutex);
  state_->save = nullptr;
}

}  // namespace ringside
