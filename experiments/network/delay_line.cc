#include "experiments/network/delay_line.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/coordinator/monotonic_clock.h"
#include "experiments/network/tap_device.h"

namespace ringside {
namespace {

// From one end before the others have their turn.
constexpr int kFramesPerTurn = 32;

// Both fail where they are not allowed; then the line is only less punctual.
void BecomePunctual() {
  prctl(PR_SET_TIMERSLACK, 1UL);  // ns; the default is 50 us
  sched_param priority = {};
  priority.sched_priority = 1;
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DelayLine>> DelayLine::Start(std::vector<Wire> wires,
                                                            absl::Duration latency) {
  FileDescriptor stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.valid()) return absl::UnavailableError(absl::StrCat("eventfd: ", strerror(errno)));
  return absl::WrapUnique(new DelayLine(std::move(wires), latency, std::move(stop)));
}

DelayLine::DelayLine(std::vector<Wire> wires, absl::Duration latency, FileDescriptor stop)
    : wires_(std::move(wires)),
      latency_(latency),
      stop_(std::move(stop)),
      incoming_(kMaxTapFrameBytes) {
  for (const Wire& wire : wires_) {
    ends_.push_back({wire.host.get(), POLLIN, 0});
    ends_.push_back({wire.hub.get(), POLLIN, 0});
  }
  ends_.push_back({stop_.get(), POLLIN, 0});
  thread_ = std::thread([this] { Move(); });
}

DelayLine::~DelayLine() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void DelayLine::Move() {
  BecomePunctual();
  for (;;) {
    AwaitFrameOrDueTime();
    if (ends_.back().revents != 0) return;
    for (size_t end = 0; end + 1 < ends_.size(); ++end) {
      if ((ends_[end].revents & POLLIN) != 0) {
        ReadFrames(end);
      } else if (ends_[end].revents != 0) {
        ends_[end].fd = -1;  // its device is gone
      }
    }
    SendDueFrames();
  }
}

void DelayLine::AwaitFrameOrDueTime() {
  timespec timeout = {};
  timespec* limit = nullptr;
  if (!waiting_.empty()) {
    timeout =
        absl::ToTimespec(std::max(waiting_.front().due - MonotonicNow(), absl::ZeroDuration()));
    limit = &timeout;
  }
  if (ppoll(ends_.data(), ends_.size(), limit, nullptr) >= 0) return;
  for (pollfd& end : ends_) end.revents = 0;  // interrupted
}

void DelayLine::ReadFrames(size_t end) {
  const bool from_host = end % 2 == 0;
  const Wire& wire = wires_[end / 2];
  const int to = from_host ? wire.hub.get() : wire.host.get();
  for (int frames = 0; frames < kFramesPerTurn; ++frames) {
    const ssize_t size = read(ends_[end].fd, incoming_.data(), incoming_.size());
    if (size <= 0) {
      if (size == 0 || (errno != EAGAIN && errno != EINTR)) ends_[end].fd = -1;
      return;
    }
    if (from_host) {
      waiting_.push_back(
          {MonotonicNow() + latency_, to, {incoming_.begin(), incoming_.begin() + size}});
    } else {
      Send(to, incoming_.data(), static_cast<size_t>(size));
    }
  }
}

void DelayLine::SendDueFrames() {
  const absl::Time now = MonotonicNow();
  while (!waiting_.empty() && waiting_.front().due <= now) {
    const Frame& frame = waiting_.front();
    Send(frame.to, frame.bytes.data(), frame.bytes.size());
    waiting_.pop_front();
  }
}

void DelayLine::Send(int to, const uint8_t* bytes, size_t size) {
  ssize_t sent = 0;
  do {
    sent = write(to, bytes, size);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) ++refused_frames_;
}

}  // namespace ringside
