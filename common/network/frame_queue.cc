#include "common/network/frame_queue.h"

#include <array>
#include <cstdint>
#include <utility>

#include "common/check.h"
#include "common/network/grpc_frame.h"

namespace ringside {

void FrameQueue::Push(const FrameHeader& header, grpc::Slice payload,
                      std::shared_ptr<const void> until_written) {
  frames_.push_back({header, std::move(payload), std::move(until_written)});
}

grpc::ByteBuffer FrameQueue::NextMessage() {
  RINGSIDE_CHECK(!frames_.empty() && being_written_ == 0);
  std::array<FrameHeader, kMaxFramesPerMessage> headers;
  size_t located = 0;
  while (located < headers.size() && located < frames_.size() &&
         frames_[located].header.location != 0) {
    headers[located] = frames_[located].header;
    ++located;
  }
  being_written_ = located == 0 ? 1 : located;
  for (size_t i = 0; i < being_written_; ++i) {
    if (frames_[i].header.elements == 0) continue;
    traffic_.payload_bytes_sent += frames_[i].header.payload_bytes();
    traffic_.header_bytes_sent += static_cast<int64_t>(kFrameHeaderBytes);
    ++traffic_.messages_sent;
  }
  return located == 0 ? MakeFrame(frames_.front().header, frames_.front().payload)
                      : MakeHeaders({headers.data(), located});
}

void FrameQueue::Written() {
  frames_.erase(frames_.begin(), frames_.begin() + static_cast<ptrdiff_t>(being_written_));
  being_written_ = 0;
}

void FrameQueue::Clear() {
  frames_.clear();
  being_written_ = 0;
}

void CountReceived(const FrameHeader& header, TrafficCounters* traffic) {
  if (header.elements == 0) return;
  traffic->payload_bytes_received += header.payload_bytes();
  traffic->header_bytes_received += static_cast<int64_t>(kFrameHeaderBytes);
  ++traffic->messages_received;
}

}  // namespace ringside
