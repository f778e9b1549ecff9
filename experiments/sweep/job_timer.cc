#include "experiments/sweep/job_timer.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "common/coordinator/monotonic_clock.h"

namespace ringside {

JobTimer::~JobTimer() {
  if (!armed_) return;
  timer_delete(timer_);
  if (!Expired()) return;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  const timespec now = {};
  siginfo_t info = {};
  bool is_meant = false;  // somebody else has sent one, too
  while (sigtimedwait(&signals, &info, &now) == SIGTERM)
    is_meant = is_meant || info.si_code != SI_TIMER;
  if (is_meant) kill(getpid(), SIGTERM);
}

absl::Status JobTimer::Start(absl::Duration limit) {
  if (limit == absl::InfiniteDuration()) return absl::OkStatus();
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGTERM;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0)
    return absl::ErrnoToStatus(errno, "a timer for the limit of a job");
  armed_ = true;
  deadline_ = MonotonicNow() + limit;
  itimerspec when = {};
  when.it_value = absl::ToTimespec(limit);
  if (timer_settime(timer_, 0, &when, nullptr) != 0)
    return absl::ErrnoToStatus(errno, "setting a timer for the limit of a job");
  return absl::OkStatus();
}

bool JobTimer::Expired() const { return MonotonicNow() >= deadline_; }

}  // namespace ringside
