// An ordered stream of bytes to one peer that never blocks: the seam between the ring's frames and
// what carries them.
//
// A TCP socket is one; a TLS session over a socket would be another, and nothing above it would
// change.
#ifndef RINGSIDE_COMMON_NETWORK_BYTE_STREAM_H_
#define RINGSIDE_COMMON_NETWORK_BYTE_STREAM_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace ringside {

// Used by one thread at a time.
class ByteStream {
 public:
  struct Transfer {
    size_t bytes = 0;    // that were moved, perhaps fewer than asked for
    short wait_for = 0;  // where bytes is 0: the poll events on fd() after which to try again
  };

  virtual ~ByteStream() = default;

  // Reads what there is, at most `into`. UNAVAILABLE: the peer has closed or reset the stream.
  virtual absl::StatusOr<Transfer> TryRead(absl::Span<uint8_t> into) = 0;
  // Writes what fits, from the pieces in order. UNAVAILABLE as above; never raises SIGPIPE.
  virtual absl::StatusOr<Transfer> TryWrite(absl::Span<const iovec> pieces) = 0;
  // For poll. Always try before polling: a stream may hold bytes of its own.
  virtual int fd() const = 0;
};

// Block until all bytes are moved. DEADLINE_EXCEEDED or UNAVAILABLE: says how many of them were;
// the stream is then of no further use.
absl::Status ReadFully(ByteStream* stream, absl::Span<uint8_t> into, absl::Time deadline);
absl::Status WriteFully(ByteStream* stream, absl::Span<const uint8_t> from, absl::Time deadline);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_BYTE_STREAM_H_
