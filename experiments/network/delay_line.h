// Wires that take time: frames from a host come out at the hub after the latency, in order.
//
// One thread serves all wires. What the hub sends to a host passes at once, so that the way from
// one host to another has the latency once. The line adds what its own wake-ups take: some 100 us
// each way on a virtual machine. Frames are never dropped for want of room.
#ifndef RINGSIDE_EXPERIMENTS_NETWORK_DELAY_LINE_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_DELAY_LINE_H_

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/network/socket.h"

namespace ringside {

// Thread-safe.
class DelayLine {
 public:
  // Descriptors that give and take one frame at a time without blocking (tap_device.h).
  struct Wire {
    FileDescriptor host;
    FileDescriptor hub;
  };

  // UNAVAILABLE: no descriptor is left for its own use.
  static absl::StatusOr<std::unique_ptr<DelayLine>> Start(std::vector<Wire> wires,
                                                          absl::Duration latency);
  // Ends the thread; frames on their way are lost.
  ~DelayLine();

  // That the other end would not take, e.g. because its device is down.
  int64_t refused_frames() const { return refused_frames_; }

 private:
  struct Frame {
    absl::Time due;
    int to = -1;  // a descriptor
    std::vector<uint8_t> bytes;
  };

  DelayLine(std::vector<Wire> wires, absl::Duration latency, FileDescriptor stop);
  void Move();
  void ReadFrames(size_t end);
  void SendDueFrames();
  void Send(int to, const uint8_t* bytes, size_t size);
  void AwaitFrameOrDueTime();

  const std::vector<Wire> wires_;
  const absl::Duration latency_;
  const FileDescriptor stop_;  // an eventfd
  std::atomic<int64_t> refused_frames_{0};
  // Of the thread alone.
  std::vector<pollfd> ends_;       // of wire w: host at 2 w, hub at 2 w + 1; last: stop_
  std::vector<uint8_t> incoming_;  // room for one frame
  std::deque<Frame> waiting_;      // all have the same latency, so the first is due first
  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_DELAY_LINE_H_
