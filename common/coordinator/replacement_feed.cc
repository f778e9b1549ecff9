#include "common/coordinator/replacement_feed.h"

#include <utility>

#include "common/coordinator/member_list.h"

namespace ringside {

void ReplacementFeed::Add(const Replacement& replacement) {
  {
    MutexLock lock(&mutex_);
    for (Member& shard : *membership_.mutable_shards()) {
      if (SameMember(shard.id(), replacement.member().id())) shard = replacement.member();
    }
    membership_.set_recovery(replacement.recovery());
    pending_.push_back(replacement);
  }
  Deliver();
}

void ReplacementFeed::SetHandler(Handler handler) {
  {
    MutexLock lock(&mutex_);
    // Whoever delivers goes on with the handler that it finds next.
    handler_ = std::move(handler);
    while (delivering_) changed_.Wait(&mutex_);
  }
  Deliver();
}

Membership ReplacementFeed::current() const {
  MutexLock lock(&mutex_);
  return membership_;
}

// One thread at a time delivers, all that there is: whoever comes meanwhile leaves it to that one.
void ReplacementFeed::Deliver() {
  while (true) {
    Replacement next;
    Handler handler;
    {
      MutexLock lock(&mutex_);
      if (delivering_ || pending_.empty() || !handler_) return;
      delivering_ = true;
      next = std::move(pending_.front());
      pending_.pop_front();
      handler = handler_;
    }
    handler(next);
    handler = nullptr;  // before whoever waits for its end goes on
    MutexLock lock(&mutex_);
    delivering_ = false;
    changed_.NotifyAll();
  }
}

}  // namespace ringside
