#include "worker/rank_threads.h"

#include <utility>

#include "absl/memory/memory.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<RankThreads>> RankThreads::Start(
    int count, std::function<absl::Status()> set_up) {
  auto threads = absl::WrapUnique(new RankThreads(count));
  if (set_up != nullptr) {
    RINGSIDE_RETURN_IF_ERROR(
        threads->Run([set_up = std::move(set_up)](int /*index*/) { return set_up(); }));
  }
  return threads;
}

RankThreads::RankThreads(int count) : outcomes_(count) {
  for (int index = 0; index < count; ++index)
    threads_.emplace_back([this, index] { Serve(index); });
}

RankThreads::~RankThreads() {
  {
    MutexLock lock(&mutex_);
    ending_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Status RankThreads::Run(std::function<absl::Status(int)> work) {
  MutexLock lock(&mutex_);
  work_ = std::move(work);
  busy_ = static_cast<int>(threads_.size());
  ++round_;
  changed_.NotifyAll();
  while (busy_ > 0) changed_.Wait(&mutex_);
  work_ = nullptr;
  for (const absl::Status& outcome : outcomes_) RINGSIDE_RETURN_IF_ERROR(outcome);
  return absl::OkStatus();
}

void RankThreads::Serve(int index) {
  int64_t served = 0;
  for (;;) {
    std::function<absl::Status(int)> work;
    {
      MutexLock lock(&mutex_);
      while (round_ == served && !ending_) changed_.Wait(&mutex_);
      if (ending_) return;
      served = round_;
      work = work_;
    }
    absl::Status outcome = work(index);
    MutexLock lock(&mutex_);
    outcomes_[index] = std::move(outcome);
    if (--busy_ == 0) changed_.NotifyAll();
  }
}

}  // namespace ringside
