// The ends of a ring over byte streams: TCP or Unix sockets.
#ifndef RINGSIDE_ALLREDUCE_STREAM_RING_ENDS_H_
#define RINGSIDE_ALLREDUCE_STREAM_RING_ENDS_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "allreduce/ring_ends.h"
#include "common/arena.h"
#include "common/network/byte_stream.h"

namespace ringside {

class StreamRingSender final : public RingSender {
 public:
  // `stream` may serve a receiver too.
  StreamRingSender(std::shared_ptr<ByteStream> stream, int right_rank, std::string link);

  void Send(const FrameHeader& header, absl::Span<const uint8_t> payload) override;
  absl::StatusOr<bool> Progress() override;
  bool idle() const override { return first_unsent_ == outgoing_.size(); }
  pollfd Arm() override { return {stream_->fd(), wait_for_, 0}; }
  absl::Status Disarm() override { return absl::OkStatus(); }
  absl::Status CheckAlive() override { return absl::OkStatus(); }  // the next write says
  std::string link() const override { return link_; }
  TrafficCounters traffic() const override;

 private:
  struct Outgoing {
    EncodedFrameHeader header;
    absl::Span<const uint8_t> payload;
    size_t size() const { return header.size() + payload.size(); }
  };

  void CountSent(size_t bytes);

  const std::shared_ptr<ByteStream> stream_;
  const int rank_;
  const std::string link_;
  // From first_unsent_ on; emptied when all has left, its memory kept.
  std::vector<Outgoing> outgoing_;
  size_t first_unsent_ = 0;
  size_t sent_of_first_ = 0;  // bytes of outgoing_[first_unsent_]
  short wait_for_ = 0;

  std::atomic<int64_t> payload_bytes_{0};
  std::atomic<int64_t> messages_{0};
};

class StreamRingReceiver final : public RingReceiver {
 public:
  // RESOURCE_EXHAUSTED: no memory for its buffer.
  static absl::StatusOr<std::unique_ptr<StreamRingReceiver>> Create(
      std::shared_ptr<ByteStream> stream, int left_rank, std::string link);

  absl::StatusOr<bool> TryHeader(FrameHeader* header) override;
  absl::StatusOr<size_t> TryReceive(absl::Span<uint8_t> into) override;
  absl::StatusOr<absl::Span<const uint8_t>> TryPiece() override;
  void Release() override {}
  pollfd Arm() override { return {stream_->fd(), wait_for_, 0}; }
  absl::Status Disarm() override { return absl::OkStatus(); }
  absl::Status CheckAlive() override { return absl::OkStatus(); }  // the next read says
  std::string link() const override { return link_; }
  TrafficCounters traffic() const override;

 private:
  StreamRingReceiver(std::shared_ptr<ByteStream> stream, int left_rank, std::string link,
                     std::unique_ptr<Arena> pieces);

  absl::StatusOr<size_t> Read(absl::Span<uint8_t> into);
  void CountReceived(size_t payload_bytes);

  const std::shared_ptr<ByteStream> stream_;
  const int rank_;
  const std::string link_;
  const std::unique_ptr<Arena> pieces_;  // where pieces are lent from
  EncodedFrameHeader header_;
  size_t header_received_ = 0;
  size_t unread_ = 0;       // payload bytes of the frame that are still in the stream
  size_t split_begin_ = 0;  // of an element that the last piece has cut, in pieces_
  size_t split_bytes_ = 0;
  short wait_for_ = 0;

  std::atomic<int64_t> payload_bytes_{0};
  std::atomic<int64_t> messages_{0};
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_STREAM_RING_ENDS_H_
