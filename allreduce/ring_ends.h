// The two ends that a rank has of its ring: one towards the right neighbour, one towards the left.
// Each knows one kind of transport, never blocks, and says what to wait for; NeighbourRingLink
// waits for both at once.
#ifndef RINGSIDE_ALLREDUCE_RING_ENDS_H_
#define RINGSIDE_ALLREDUCE_RING_ENDS_H_

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/frame_codec.h"
#include "common/traffic.h"

namespace ringside {

// Errors have the neighbour attached as suspect, and are those of RingLink without the deadlines.
// Used by one thread; traffic may be called from any.
class RingSender {
 public:
  virtual ~RingSender() = default;

  // As RingLink::Send.
  virtual void Send(const FrameHeader& header, absl::Span<const uint8_t> payload) = 0;
  // Moves what can be moved at once. True: something was.
  virtual absl::StatusOr<bool> Progress() = 0;
  // Everything that was lent has left.
  virtual bool idle() const = 0;

  // Before and after a sleep in poll. Arm returns what to wait for; after it, the condition must be
  // looked at once more.
  virtual pollfd Arm() = 0;
  virtual absl::Status Disarm() = 0;
  // UNAVAILABLE: the neighbour has gone. Asked now and then by whoever sleeps elsewhere.
  virtual absl::Status CheckAlive() = 0;

  virtual std::string link() const = 0;  // tcp, uds, shm
  virtual TrafficCounters traffic() const = 0;
};

class RingReceiver {
 public:
  virtual ~RingReceiver() = default;

  // True: the next header is here, in `header`.
  virtual absl::StatusOr<bool> TryHeader(FrameHeader* header) = 0;
  // Moves payload that is here into `into`, returns how many bytes.
  virtual absl::StatusOr<size_t> TryReceive(absl::Span<uint8_t> into) = 0;
  // As RingLink::NextPiece; empty: nothing is here.
  virtual absl::StatusOr<absl::Span<const uint8_t>> TryPiece() = 0;
  // Gives back what the last TryPiece has lent.
  virtual void Release() = 0;

  virtual pollfd Arm() = 0;
  virtual absl::Status Disarm() = 0;
  virtual absl::Status CheckAlive() = 0;

  virtual std::string link() const = 0;
  virtual TrafficCounters traffic() const = 0;
};

// "connection to worker 3: reset", with worker 3 as the suspect.
absl::Status EndError(const absl::Status& status, absl::string_view prefix, int rank);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_RING_ENDS_H_
