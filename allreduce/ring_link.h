// The two connections of a rank in a ring: frames go out to the right neighbour and come in from
// the left one.
//
// A link knows frames, peers and deadlines, but no algorithm: which frame must come next is for its
// user to check.
#ifndef RINGSIDE_ALLREDUCE_RING_LINK_H_
#define RINGSIDE_ALLREDUCE_RING_LINK_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/frame_codec.h"
#include "common/traffic.h"

namespace ringside {

// Used by one thread at a time; Interrupt and traffic may be called from any. After an error a link
// is of no further use.
//
// Errors of the four blocking calls, with the neighbour attached as suspect: UNAVAILABLE: it has
// closed or reset the connection. DEADLINE_EXCEEDED: it sent nothing (or took nothing) in time.
// INVALID_ARGUMENT: what it sent is no frame. ABORTED, without a suspect: Interrupt was called.
class RingLink {
 public:
  virtual ~RingLink() = default;

  // Lends one frame, header.elements == payload.size(). Does not block: frames leave in order while
  // the calls below run, so that a ring in which all ranks send at once cannot block itself.
  // `payload` has header.payload_bytes(), and must not change before it has left, which is when
  // Flush returns or when an answer to it has arrived.
  virtual void Send(const FrameHeader& header, absl::Span<const uint8_t> payload) = 0;

  // Blocks until the next header is here. Its payload must be taken next: all of it by
  // ReceivePayload, or piece by piece by NextPiece until the pieces add up to it.
  virtual absl::StatusOr<FrameHeader> ReceiveHeader(absl::Time deadline) = 0;
  virtual absl::Status ReceivePayload(absl::Span<uint8_t> into, absl::Time deadline) = 0;
  // Blocks until more of the payload is here, and lends it where it is until the next call of any
  // of these three: whole elements, aligned to them, never none. Memory of the left neighbour
  // where the two share it.
  virtual absl::StatusOr<absl::Span<const uint8_t>> NextPiece(absl::Time deadline) = 0;

  // Blocks until every lent frame has left.
  virtual absl::Status Flush(absl::Time deadline) = 0;

  // Makes a running and every later call fail.
  virtual void Interrupt() = 0;

  // What has gone over the connections, handshake apart. A frame counts when its last byte has
  // passed.
  virtual TrafficCounters traffic() const = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_RING_LINK_H_
