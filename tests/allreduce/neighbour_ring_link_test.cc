#include "allreduce/neighbour_ring_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "allreduce/stream_ring_ends.h"
#include "common/status_macros.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {
namespace {

absl::Time Later() { return absl::Now() + absl::Seconds(30); }

std::unique_ptr<NeighbourRingLink> Link(int ranks, int rank, std::shared_ptr<Socket> left,
                                        std::shared_ptr<Socket> right) {
  const Group group = Group::World(ranks, rank, 0);
  return *NeighbourRingLink::Create(
      group, nullptr, *StreamRingReceiver::Create(std::move(left), group.left(), "uds"),
      std::make_unique<StreamRingSender>(std::move(right), group.right(), "uds"));
}

// Links of all ranks over Unix sockets.
std::vector<std::unique_ptr<NeighbourRingLink>> Ring(int ranks) {
  std::vector<std::shared_ptr<Socket>> lefts(ranks);
  std::vector<std::shared_ptr<Socket>> rights(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    rights[rank] = std::make_shared<Socket>(FileDescriptor(ends[0]));
    lefts[(rank + 1) % ranks] = std::make_shared<Socket>(FileDescriptor(ends[1]));
  }
  std::vector<std::unique_ptr<NeighbourRingLink>> links;
  for (int rank = 0; rank < ranks; ++rank) {
    links.push_back(Link(ranks, rank, lefts[rank], rights[rank]));
  }
  return links;
}

FrameHeader Header(int sender, uint32_t elements, WireDtype dtype = WireDtype::kFloat32) {
  FrameHeader header;
  header.kind = FrameKind::kAllGather;
  header.dtype = dtype;
  header.sender = static_cast<uint32_t>(sender);
  header.elements = elements;
  return header;
}

TEST(NeighbourRingLinkTest, FramesGoRoundTheRing) {
  constexpr int kRanks = 3;
  auto links = Ring(kRanks);
  const std::vector<absl::Status> statuses = RunRanks(kRanks, [&](int rank) {
    NeighbourRingLink* link = links[rank].get();
    const std::vector<uint8_t> payload(12, static_cast<uint8_t>(rank));
    link->Send(Header(rank, 3), payload);
    RINGSIDE_ASSIGN_OR_RETURN(const FrameHeader got, link->ReceiveHeader(Later()));
    const int left = (rank + 2) % 3;
    EXPECT_EQ(got, Header(left, 3));
    std::vector<uint8_t> received(12);
    RINGSIDE_RETURN_IF_ERROR(link->ReceivePayload(absl::MakeSpan(received), Later()));
    EXPECT_EQ(received, std::vector<uint8_t>(12, static_cast<uint8_t>(left)));
    return link->Flush(Later());
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(statuses[rank].ok()) << statuses[rank];
    EXPECT_EQ(links[rank]->traffic(), (TrafficCounters{12, 12, 1, 1, 64, 64}));
    EXPECT_EQ(links[rank]->left_link(), "uds");
  }
}

// The bytes of a frame arrive one by one: pieces are whole elements all the same.
TEST(NeighbourRingLinkTest, PiecesAreWholeElements) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  Socket sender{FileDescriptor(ends[0])};
  auto socket = std::make_shared<Socket>(FileDescriptor(ends[1]));
  const auto link = Link(2, 0, socket, socket);
  // An odd number of 16-bit values: the last piece is half a float.
  const FrameHeader header = Header(1, 7, WireDtype::kBFloat16);
  std::vector<uint8_t> payload(14);
  for (size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<uint8_t>(i);
  std::thread trickle([&] {
    const EncodedFrameHeader encoded = EncodeFrameHeader(header);
    EXPECT_TRUE(WriteFully(&sender, encoded, Later()).ok());
    for (const uint8_t& byte : payload) {
      EXPECT_TRUE(WriteFully(&sender, absl::MakeConstSpan(&byte, 1), Later()).ok());
    }
  });
  const auto got = link->ReceiveHeader(Later());
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, header);
  std::vector<uint8_t> received;
  while (received.size() < payload.size()) {
    const auto piece = link->NextPiece(Later());
    ASSERT_TRUE(piece.ok()) << piece.status();
    ASSERT_FALSE(piece->empty());
    EXPECT_EQ(piece->size() % 2, 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece->data()) % 4, 0);
    received.insert(received.end(), piece->begin(), piece->end());
  }
  trickle.join();
  EXPECT_EQ(received, payload);
  EXPECT_EQ(link->traffic().messages_received, 1);
}

TEST(NeighbourRingLinkTest, InterruptWakesAReceive) {
  auto links = Ring(2);
  std::thread thread([&] { links[0]->Interrupt(); });
  EXPECT_TRUE(absl::IsAborted(links[0]->ReceiveHeader(Later()).status()));
  thread.join();
  EXPECT_TRUE(absl::IsAborted(links[0]->ReceiveHeader(Later()).status()));
}

}  // namespace
}  // namespace ringside
