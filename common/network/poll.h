// poll(2) with an absolute deadline. Stateless, safe from any thread.
#ifndef RINGSIDE_COMMON_NETWORK_POLL_H_
#define RINGSIDE_COMMON_NETWORK_POLL_H_

#include <poll.h>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace ringside {

// Blocks until one of `fds` is ready (revents are set as poll does; negative descriptors are
// skipped) or `deadline` has passed, then false. With a deadline in the past it only looks.
// INTERNAL: the kernel refuses to poll.
absl::StatusOr<bool> PollUntil(absl::Span<pollfd> fds, absl::Time deadline);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_POLL_H_
