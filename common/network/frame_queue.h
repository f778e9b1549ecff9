// Frames that wait to be written to one stream, and how they become messages: a frame with payload
// is one, and headers whose payload lies in shared memory travel together, as many as wait when a
// write starts. Thread-compatible.
#ifndef RINGSIDE_COMMON_NETWORK_FRAME_QUEUE_H_
#define RINGSIDE_COMMON_NETWORK_FRAME_QUEUE_H_

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <deque>
#include <memory>

#include "common/frame_codec.h"
#include "common/traffic.h"

namespace ringside {

class FrameQueue {
 public:
  // `payload` is referred to until the frame is written; it is empty where the header has a
  // location.
  // `until_written` is let go when the frame has been written, or dropped.
  void Push(const FrameHeader& header, grpc::Slice payload,
            std::shared_ptr<const void> until_written = nullptr);
  bool empty() const { return frames_.empty(); }

  // The next message. Its frames are counted and stay in the queue until Written. REQUIRES: not
  // empty, and none is being written.
  grpc::ByteBuffer NextMessage();
  // Of the last message: how many frames it has, and their headers.
  size_t being_written() const { return being_written_; }
  const FrameHeader& header_being_written(size_t index) const { return frames_[index].header; }
  // The frames of the last message have left.
  void Written();
  // Drops all frames, also those being written.
  void Clear();

  // Of frames with elements, whatever messages they travelled in; payload in shared memory counts
  // as sent.
  const TrafficCounters& traffic() const { return traffic_; }

 private:
  struct Frame {
    FrameHeader header;
    grpc::Slice payload;
    std::shared_ptr<const void> until_written;
  };

  std::deque<Frame> frames_;  // the first being_written_ are in a message
  size_t being_written_ = 0;
  TrafficCounters traffic_;
};

// Adds one received frame to `traffic`.
void CountReceived(const FrameHeader& header, TrafficCounters* traffic);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_FRAME_QUEUE_H_
