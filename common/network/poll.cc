#include "common/network/poll.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace ringside {

absl::StatusOr<bool> PollUntil(absl::Span<pollfd> fds, absl::Time deadline) {
  for (;;) {
    timespec timeout = {};
    timespec* limit = nullptr;
    if (deadline != absl::InfiniteFuture()) {
      timeout = absl::ToTimespec(std::max(absl::ZeroDuration(), deadline - absl::Now()));
      limit = &timeout;
    }
    const int ready = ppoll(fds.data(), fds.size(), limit, nullptr);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return absl::InternalError(absl::StrCat("poll fails: ", strerror(errno)));
  }
}

}  // namespace ringside
