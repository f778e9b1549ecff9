// A thread for each rank that one process plays at once: all of them do a piece of work, and all
// are waited for.
//
// Thread-compatible: one thread calls Run.
#ifndef RINGSIDE_WORKER_RANK_THREADS_H_
#define RINGSIDE_WORKER_RANK_THREADS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"

namespace ringside {

class RankThreads {
 public:
  // `set_up` is called once on each thread, first; it may be empty. The error is that of the lowest
  // rank whose set-up failed.
  static absl::StatusOr<std::unique_ptr<RankThreads>> Start(int count,
                                                            std::function<absl::Status()> set_up);
  // Joins the threads.
  ~RankThreads();
  RankThreads(const RankThreads&) = delete;
  RankThreads& operator=(const RankThreads&) = delete;

  // Calls `work` with 0, 1, ... count - 1, each on its own thread, the same for the same number
  // every time. Blocks until all have returned. The error is that of the lowest number.
  absl::Status Run(std::function<absl::Status(int)> work);

 private:
  explicit RankThreads(int count);

  void Serve(int index);

  Mutex mutex_;
  CondVar changed_;
  std::function<absl::Status(int)> work_ ABSL_GUARDED_BY(mutex_);
  int64_t round_ ABSL_GUARDED_BY(mutex_) = 0;  // how often there has been work
  int busy_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<absl::Status> outcomes_ ABSL_GUARDED_BY(mutex_);

  std::vector<std::thread> threads_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_RANK_THREADS_H_
