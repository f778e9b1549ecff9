// Passes open files to another process over a Unix socket.
#ifndef RINGSIDE_COMMON_NETWORK_DESCRIPTOR_PASSING_H_
#define RINGSIDE_COMMON_NETWORK_DESCRIPTOR_PASSING_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/network/socket.h"

namespace ringside {

constexpr size_t kMaxPassedDescriptors = 16;

// Sends `descriptors`, which stay the caller's, in one message. Blocks while the socket is full.
// UNAVAILABLE: the peer is gone; DEADLINE_EXCEEDED: it takes nothing; INVALID_ARGUMENT: none, or
// more than kMaxPassedDescriptors, or not a Unix socket.
absl::Status SendDescriptors(Socket* socket, absl::Span<const int> descriptors,
                             absl::Time deadline);

// Blocks until the next message of SendDescriptors. Errors as above, and INVALID_ARGUMENT: the peer
// has sent something else.
absl::StatusOr<std::vector<FileDescriptor>> ReceiveDescriptors(Socket* socket, absl::Time deadline);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_DESCRIPTOR_PASSING_H_
