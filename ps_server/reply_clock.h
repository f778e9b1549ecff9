// How long replies take: from the moment at which a unit is complete until the last of its writes
// has ended.
//
// Thread-safe.
#ifndef RINGSIDE_PS_SERVER_REPLY_CLOCK_H_
#define RINGSIDE_PS_SERVER_REPLY_CLOCK_H_

#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "common/mutex.h"

namespace ringside {

class ReplyClock {
 public:
  // One reply. Every write of it holds a copy; when the last copy is gone, the reply is over. A
  // write that a broken stream drops counts until then. Empty: a frame that is not timed.
  using Ticket = std::shared_ptr<const void>;

  struct Total {
    int64_t replies = 0;
    absl::Duration time;  // of all replies together; they overlap
  };

  // A reply begins. The clock outlives the ticket.
  Ticket Start();
  // Of the replies that are over.
  Total total() const;

 private:
  class Reply;
  void Stop(absl::Duration took);

  mutable Mutex mutex_;
  Total total_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_REPLY_CLOCK_H_
