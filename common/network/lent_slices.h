// Counts the slices that gRPC holds of memory that is not ours.
//
// After a stream has been cancelled, the connection may still have some of them queued for a peer
// that does not read; they come back when it is closed. Whoever gives up on them must let this
// object live on, because the slices refer to it. Thread-safe.
#ifndef RINGSIDE_COMMON_NETWORK_LENT_SLICES_H_
#define RINGSIDE_COMMON_NETWORK_LENT_SLICES_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/mutex.h"

namespace ringside {

class LentSlices {
 public:
  // A slice over `memory`, without a copy; counted until gRPC has dropped the last reference.
  grpc::Slice Lend(absl::Span<const uint8_t> memory);

  // Blocks until all are back. False when some are still out at `deadline`, or once `give_up` is
  // set and Wake was called after that; null: nobody gives up.
  bool AwaitReturn(absl::Time deadline, const std::atomic<bool>* give_up = nullptr);
  // Lets those who wait look at their `give_up`.
  void Wake();

  int64_t out() const;

 private:
  static void Return(void* self);

  mutable Mutex mutex_;
  CondVar changed_;
  int64_t out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_LENT_SLICES_H_
