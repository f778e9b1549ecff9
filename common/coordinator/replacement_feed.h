// Hands what a member learns of replaced shards to its handler, in order and without loss.
#ifndef RINGSIDE_COMMON_COORDINATOR_REPLACEMENT_FEED_H_
#define RINGSIDE_COMMON_COORDINATOR_REPLACEMENT_FEED_H_

#include <deque>
#include <functional>

#include "common/mutex.h"
#include "coordinator.pb.h"

namespace ringside {

// Thread-safe. Keeps replacements until there is a handler. The handler runs without a lock, one
// call at a time, in the thread that brought a replacement or set the handler.
class ReplacementFeed {
 public:
  using Handler = std::function<void(const Replacement&)>;

  explicit ReplacementFeed(Membership membership) : membership_(std::move(membership)) {}

  void Add(const Replacement& replacement);
  // On return the earlier handler neither runs nor will be called. Not from within a handler.
  void SetHandler(Handler handler);
  // As joined, with the replaced members and the number of the last replacement.
  Membership current() const;

 private:
  void Deliver();

  mutable Mutex mutex_;
  CondVar changed_;
  Membership membership_ ABSL_GUARDED_BY(mutex_);
  std::deque<Replacement> pending_ ABSL_GUARDED_BY(mutex_);
  Handler handler_ ABSL_GUARDED_BY(mutex_);
  bool delivering_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_REPLACEMENT_FEED_H_
