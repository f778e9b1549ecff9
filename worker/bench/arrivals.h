// What has come back on a raw stream: filled by a thread of gRPC, awaited by the worker.
// Thread-safe.
#ifndef RINGSIDE_WORKER_BENCH_ARRIVALS_H_
#define RINGSIDE_WORKER_BENCH_ARRIVALS_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/mutex.h"

namespace ringside {

class Arrivals {
 public:
  void Expect(int64_t frames, bool keep) {
    MutexLock lock(&mutex_);
    missing_ = frames;
    keep_ = keep;
    kept_.clear();
  }

  void Add(grpc::ByteBuffer* frame) {
    MutexLock lock(&mutex_);
    if (keep_) kept_.push_back(std::move(*frame));
    if (--missing_ == 0) changed_.NotifyAll();
  }

  void End() {
    MutexLock lock(&mutex_);
    ended_ = true;
    changed_.NotifyAll();
  }

  absl::Status Await(absl::Time deadline) {
    MutexLock lock(&mutex_);
    while (missing_ > 0 && !ended_) {
      if (!changed_.WaitUntil(&mutex_, deadline) && missing_ > 0 && !ended_) {
        return absl::DeadlineExceededError(absl::StrCat(missing_, " echoes have not come in time"));
      }
    }
    if (missing_ <= 0) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("the stream broke before ", missing_, " echoes had come"));
  }

  // Without a deadline: a cancelled stream always ends.
  void AwaitEnd() {
    MutexLock lock(&mutex_);
    while (!ended_) changed_.Wait(&mutex_);
  }

  std::vector<grpc::ByteBuffer> TakeKept() {
    MutexLock lock(&mutex_);
    return std::move(kept_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int64_t missing_ ABSL_GUARDED_BY(mutex_) = 0;
  bool keep_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<grpc::ByteBuffer> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_ARRIVALS_H_
