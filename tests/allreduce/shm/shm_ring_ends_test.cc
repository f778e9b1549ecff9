#include "allreduce/shm/shm_ring_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <vector>

#include "absl/time/clock.h"
#include "common/suspects.h"

namespace ringside {
namespace {

using testing::HasSubstr;

// Worker 1 of two, whose left neighbour, worker 0, this test plays.
class ShmRingEndsTest : public testing::Test {
 protected:
  ShmRingEndsTest() {
    arena_ = *Arena::Create(1000, Arena::Placement::kShared);
    left_ = *OwnMemory::Create(kRingControlBytes, kRingStagingBytes, {arena_.get()});
    own_ = *OwnMemory::Create(kRingControlBytes, kRingStagingBytes, {});
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    left_socket_ = std::make_unique<Socket>(FileDescriptor(ends[0]));
    auto own_socket = std::make_unique<Socket>(FileDescriptor(ends[1]));
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    MemoryExchange of_left(left_socket_.get());
    MemoryExchange own(own_socket.get());
    EXPECT_TRUE(of_left.Offer(left_->Descriptors(), deadline).ok());
    EXPECT_TRUE(own.Offer(own_->ControlDescriptor(), deadline).ok());
    EXPECT_TRUE(of_left.Take(deadline).ok() && own.Take(deadline).ok());
    EXPECT_TRUE(of_left.Settle(deadline).ok() && own.Settle(deadline).ok());
    sender_ =
        std::make_unique<ShmRingSender>(left_.get(), of_left.memory(), std::move(left_socket_), 1);
    receiver_ =
        std::make_unique<ShmRingReceiver>(own_.get(), own.memory(), std::move(own_socket), 0);
  }

  static FrameHeader Header(uint32_t elements) {
    FrameHeader header;
    header.kind = FrameKind::kReduceScatter;
    header.elements = elements;
    return header;
  }
  absl::Span<const uint8_t> ArenaBytes(size_t bytes) const {
    return {reinterpret_cast<const uint8_t*>(arena_->span().data()), bytes};
  }
  // The slot of the next frame, which the test may spoil.
  RingMailbox::Slot* PutAndSpoil() {
    sender_->Send(Header(10), ArenaBytes(40));
    return &MailboxOf(*own_)->slots[0];
  }
  void ExpectMalformed(const std::string& what) {
    FrameHeader header;
    const absl::Status status = receiver_->TryHeader(&header).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(status.ToString(), HasSubstr(what));
    EXPECT_THAT(status.ToString(), HasSubstr("from worker 0"));
    EXPECT_EQ(ToString(SuspectsOf(status)), "worker 0");
  }

  std::unique_ptr<Arena> arena_;
  std::unique_ptr<OwnMemory> left_;
  std::unique_ptr<OwnMemory> own_;
  std::unique_ptr<Socket> left_socket_;
  std::unique_ptr<ShmRingSender> sender_;
  std::unique_ptr<ShmRingReceiver> receiver_;
};

TEST_F(ShmRingEndsTest, PayloadIsReadWhereItLiesAndHasLeftWhenItIsTaken) {
  arena_->span()[3] = 7;
  sender_->Send(Header(10), ArenaBytes(40));
  FrameHeader header;
  ASSERT_TRUE(*receiver_->TryHeader(&header));
  EXPECT_EQ(header, Header(10));
  arena_->span()[4] = 8;  // the very memory of the sender
  const absl::Span<const uint8_t> piece = *receiver_->TryPiece();
  ASSERT_EQ(piece.size(), 40);
  EXPECT_EQ(reinterpret_cast<const float*>(piece.data())[3], 7);
  EXPECT_EQ(reinterpret_cast<const float*>(piece.data())[4], 8);
  EXPECT_FALSE(sender_->idle());
  receiver_->Release();
  EXPECT_TRUE(sender_->idle());
  EXPECT_FALSE(*receiver_->TryHeader(&header));
}

TEST_F(ShmRingEndsTest, OtherPayloadIsCopiedAndWaitsForABuffer) {
  constexpr int kFrames = 2 * kShmStagingBuffers;
  std::vector<std::vector<uint8_t>> payloads;
  for (int i = 0; i < kFrames; ++i) payloads.emplace_back(8, static_cast<uint8_t>(i));
  for (const std::vector<uint8_t>& payload : payloads) sender_->Send(Header(2), payload);
  EXPECT_TRUE(sender_->has_waiting());
  for (int i = 0; i < kFrames; ++i) {
    FrameHeader header;
    ASSERT_TRUE(sender_->Progress().ok());
    ASSERT_TRUE(*receiver_->TryHeader(&header)) << i;
    std::vector<uint8_t> received(8);
    ASSERT_EQ(*receiver_->TryReceive(absl::MakeSpan(received)), 8u);
    EXPECT_EQ(received, payloads[i]);
  }
  EXPECT_TRUE(sender_->idle());
  EXPECT_EQ(sender_->traffic().messages_sent, kFrames);
  EXPECT_EQ(receiver_->traffic().payload_bytes_received, 8 * kFrames);
}

TEST_F(ShmRingEndsTest, PayloadOutsideOfTheNeighboursMemoryIsRefused) {
  PutAndSpoil()->offset = left_->staging().size() + (uint64_t{1} << 40);
  ExpectMalformed("its payload of 40 bytes at");
}

TEST_F(ShmRingEndsTest, AnUnknownSegmentIsRefused) {
  PutAndSpoil()->segment = 9;
  ExpectMalformed("is not within segment 9");
}

TEST_F(ShmRingEndsTest, AMisalignedPayloadIsRefused) {
  PutAndSpoil()->offset += 1;
  ExpectMalformed("malformed frame");
}

TEST_F(ShmRingEndsTest, AHeaderThatIsNoneIsRefused) {
  PutAndSpoil()->header[0] = 0;
  ExpectMalformed("malformed frame: not a Ringside frame");
}

TEST_F(ShmRingEndsTest, ANeighbourThatHasGoneIsNamedOnceItsFramesAreRead) {
  sender_->Send(Header(10), ArenaBytes(40));
  sender_.reset();
  EXPECT_TRUE(receiver_->CheckAlive().ok());
  FrameHeader header;
  ASSERT_TRUE(*receiver_->TryHeader(&header));
  const absl::Status status = receiver_->CheckAlive();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 0");
}

}  // namespace
}  // namespace ringside
