// A std::mutex and std::condition_variable with clang's thread-safety annotations.
//
// Not absl::Mutex: the packaged Abseil is not instrumented for ThreadSanitizer, which then reports
// races that are none.
#ifndef RINGSIDE_COMMON_MUTEX_H_
#define RINGSIDE_COMMON_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace ringside {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// Waits can wake spuriously: always wait in a loop over the guarded condition.
class CondVar {
 public:
  void Wait(Mutex* mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

  // Returns false when `deadline` has passed.
  bool WaitUntil(Mutex* mutex, absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    bool in_time = true;
    if (deadline == absl::InfiniteFuture()) {
      condition_.wait(lock);
    } else {
      // For a time, not until one: this waits on the monotonic clock, so setting the wall clock
      // back does not make anybody wait longer.
      in_time = condition_.wait_for(lock, absl::ToChronoNanoseconds(deadline - absl::Now())) ==
                std::cv_status::no_timeout;
    }
    lock.release();
    return in_time;
  }

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_MUTEX_H_
