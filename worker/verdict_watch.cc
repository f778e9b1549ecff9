#include "worker/verdict_watch.h"

#include <utility>

#include "absl/time/clock.h"

namespace ringside {

VerdictWatch::VerdictWatch(absl::Duration grace, std::function<void(const absl::Status&)> end)
    : grace_(grace), end_(std::move(end)), thread_([this] { Watch(); }) {}

VerdictWatch::~VerdictWatch() {
  {
    MutexLock lock(&mutex_);
    disarmed_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void VerdictWatch::Attach(GradientSynchronizer* synchronizer) {
  absl::optional<absl::Status> verdict;
  {
    MutexLock lock(&mutex_);
    synchronizer_ = synchronizer;
    verdict = verdict_;
  }
  if (verdict.has_value()) synchronizer->Abort(*verdict);
}

void VerdictWatch::Deliver(const absl::Status& verdict) {
  GradientSynchronizer* synchronizer = nullptr;
  {
    MutexLock lock(&mutex_);
    if (verdict_.has_value()) return;
    verdict_ = verdict;
    synchronizer = synchronizer_;
    changed_.NotifyAll();
  }
  if (synchronizer != nullptr) synchronizer->Abort(verdict);
}

void VerdictWatch::Watch() {
  absl::Status verdict;
  {
    MutexLock lock(&mutex_);
    while (!disarmed_ && !verdict_.has_value()) changed_.Wait(&mutex_);
    const absl::Time deadline = absl::Now() + grace_;
    while (!disarmed_ && absl::Now() < deadline) changed_.WaitUntil(&mutex_, deadline);
    if (disarmed_) return;
    verdict = *verdict_;
  }
  end_(verdict);
}

}  // namespace ringside
