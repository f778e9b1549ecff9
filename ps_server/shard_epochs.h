// The epochs of one shard, one after the other, from one loss of a shard to the next: which of them
// is under way, what stops it, and what all of them have done. Thread-safe, but for Begin, Await
// and Release, which one thread calls in turn.
#ifndef RINGSIDE_PS_SERVER_SHARD_EPOCHS_H_
#define RINGSIDE_PS_SERVER_SHARD_EPOCHS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "ps_server/shard_executor.h"

namespace ringside {

class ShardEpochs {
 public:
  // A reason to stop with this recovery number stops every epoch.
  static constexpr uint32_t kForGood = ~uint32_t{0};

  ShardEpochs() = default;
  // Stops the epoch that is under way, if there is one.
  ~ShardEpochs() = default;
  ShardEpochs(const ShardEpochs&) = delete;
  ShardEpochs& operator=(const ShardEpochs&) = delete;

  // The next epoch is under way, which begins with replacement number `recovery` made good (0: with
  // the job). A stop that has been asked for reaches it: streams can be told of that, so its
  // executor is to be served already. The executor lives as long as this object, because streams
  // may refer to it for longer than the epoch lasts. REQUIRES: no epoch is under way.
  ShardExecutor* Begin(uint32_t recovery, std::unique_ptr<ShardExecutor> executor);
  // Waits for the end of the epoch that is under way: ShardExecutor::Await.
  absl::Status Await();
  // Frees the state of the last epoch, so that there are never two of them. REQUIRES: no epoch is
  // under way; nobody refers to the arenas of its results.
  void Release();

  // Ends the epoch that is under way or the next, with `why`, unless it has begun with the
  // replacement `recovery` or a later one.
  void Stop(const absl::Status& why, uint32_t recovery);

  bool under_way() const;
  // Of all epochs so far; open_step and units are the last one's.
  ShardExecutor::Account account() const;

 private:
  mutable Mutex mutex_;
  absl::Status stop_ ABSL_GUARDED_BY(mutex_);  // of every epoch that is not after stop_before_
  uint32_t stop_before_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<ShardExecutor>> executors_ ABSL_GUARDED_BY(mutex_);
  bool under_way_ ABSL_GUARDED_BY(mutex_) = false;         // the last of them
  uint32_t recovery_ ABSL_GUARDED_BY(mutex_) = 0;          // of that one
  ShardExecutor::Account before_ ABSL_GUARDED_BY(mutex_);  // of all but the last
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SHARD_EPOCHS_H_
