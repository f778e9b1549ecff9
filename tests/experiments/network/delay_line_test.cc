#include "experiments/network/delay_line.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "absl/time/clock.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/network/poll.h"

namespace ringside {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(20);

// Where a test puts frames in and takes them out: sockets that keep frames apart stand in for
// devices.
struct Ends {
  FileDescriptor host;
  FileDescriptor hub;
};

FileDescriptor Pair(FileDescriptor* other) {
  int fds[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  *other = FileDescriptor(fds[0]);
  return FileDescriptor(fds[1]);
}

DelayLine::Wire MakeWire(Ends* ends) {
  DelayLine::Wire wire;
  wire.host = Pair(&ends->host);
  wire.hub = Pair(&ends->hub);
  return wire;
}

void Put(const FileDescriptor& end, const std::string& frame) {
  ASSERT_EQ(write(end.get(), frame.data(), frame.size()), static_cast<ssize_t>(frame.size()));
}

std::string Take(const FileDescriptor& end) {
  pollfd entry = {end.get(), POLLIN, 0};
  const auto ready = PollUntil(absl::MakeSpan(&entry, 1), absl::Now() + kTimeout);
  if (!ready.ok() || !*ready) return "nothing";
  std::string frame(100'000, '\0');
  const ssize_t size = read(end.get(), frame.data(), frame.size());
  frame.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return frame;
}

class DelayLineTest : public ::testing::Test {
 protected:
  void Start(int wires, absl::Duration latency) {
    std::vector<DelayLine::Wire> made;
    ends_.resize(wires);
    for (Ends& ends : ends_) made.push_back(MakeWire(&ends));
    auto line = DelayLine::Start(std::move(made), latency);
    ASSERT_TRUE(line.ok()) << line.status();
    line_ = *std::move(line);
  }

  std::vector<Ends> ends_;
  std::unique_ptr<DelayLine> line_;
};

TEST_F(DelayLineTest, WhatAHostSendsTakesTheLatency) {
  constexpr absl::Duration kLatency = absl::Milliseconds(30);
  Start(1, kLatency);
  const absl::Time start = MonotonicNow();
  Put(ends_[0].host, "hello");
  EXPECT_EQ(Take(ends_[0].hub), "hello");
  EXPECT_GE(MonotonicNow() - start, kLatency);
}

TEST_F(DelayLineTest, WhatTheHubSendsPassesAtOnce) {
  Start(1, absl::Hours(1));
  Put(ends_[0].hub, "hello");
  EXPECT_EQ(Take(ends_[0].host), "hello");
}

TEST_F(DelayLineTest, FramesKeepTheirOrderAndBounds) {
  Start(2, absl::Milliseconds(5));
  constexpr int kFrames = 100;
  for (int i = 0; i < kFrames; ++i) {
    Put(ends_[0].host, "to hub " + std::string(i, 'x'));
    Put(ends_[1].hub, "to host " + std::string(i, 'y'));
  }
  for (int i = 0; i < kFrames; ++i) {
    EXPECT_EQ(Take(ends_[0].hub), "to hub " + std::string(i, 'x'));
    EXPECT_EQ(Take(ends_[1].host), "to host " + std::string(i, 'y'));
  }
  EXPECT_EQ(line_->refused_frames(), 0);
}

TEST_F(DelayLineTest, TheLargestFramePassesWhole) {
  Start(1, absl::Milliseconds(1));
  const std::string frame((64 << 10) + 14 + 10, 'z');
  Put(ends_[0].host, frame);
  EXPECT_EQ(Take(ends_[0].hub), frame);
}

TEST_F(DelayLineTest, AnEndThatIsGoneHarmsNoOtherWire) {
  Start(2, absl::Milliseconds(1));
  Put(ends_[0].host, "lost");
  ends_[0].hub.Close();
  ends_[0].host.Close();
  Put(ends_[1].host, "hello");
  EXPECT_EQ(Take(ends_[1].hub), "hello");
}

TEST_F(DelayLineTest, EndsWithFramesOnTheirWay) {
  Start(1, absl::Hours(1));
  Put(ends_[0].host, "never");
  line_ = nullptr;
}

}  // namespace
}  // namespace ringside
