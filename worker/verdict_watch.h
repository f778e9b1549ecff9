// What happens in this process when the job has a verdict: the synchronizer is aborted, so that the
// training thread returns with it; and if the thread is elsewhere, e.g. in a long forward pass, and
// does not return soon, the process ends. After a verdict nobody lingers.
//
// Thread-safe. Owns one thread.
#ifndef RINGSIDE_WORKER_VERDICT_WATCH_H_
#define RINGSIDE_WORKER_VERDICT_WATCH_H_

#include <functional>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "common/mutex.h"
#include "worker/synchronizers/gradient_synchronizer.h"

namespace ringside {

class VerdictWatch {
 public:
  // `end` gets the verdict `grace` after it came, on the watch's thread. In earnest it does not
  // return.
  VerdictWatch(absl::Duration grace, std::function<void(const absl::Status&)> end);
  // The training thread is back: `end` is not called any more.
  ~VerdictWatch();

  // Borrows what is to be aborted; it must outlive the watch. Aborted at once if the verdict is
  // there already.
  void Attach(GradientSynchronizer* synchronizer) ABSL_LOCKS_EXCLUDED(mutex_);
  // The verdict. Only the first one counts.
  void Deliver(const absl::Status& verdict) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Watch() ABSL_LOCKS_EXCLUDED(mutex_);

  // Constant after construction.
  const absl::Duration grace_;
  const std::function<void(const absl::Status&)> end_;

  Mutex mutex_;
  CondVar changed_;
  GradientSynchronizer* synchronizer_ ABSL_GUARDED_BY(mutex_) = nullptr;
  absl::optional<absl::Status> verdict_ ABSL_GUARDED_BY(mutex_);
  bool disarmed_ ABSL_GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last, so that it starts when all else is there
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_VERDICT_WATCH_H_
