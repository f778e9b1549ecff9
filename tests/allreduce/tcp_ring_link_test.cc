#include "allreduce/tcp_ring_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {
namespace {

using testing::HasSubstr;

std::string Message(const absl::StatusOr<std::unique_ptr<TcpRingLink>>& link) {
  return link.status().ToString();
}

TEST(TcpRingLinkTest, FramesGoRoundTheRing) {
  constexpr int kRanks = 3;
  auto links = ConnectRing(kRanks);
  const std::vector<absl::Status> statuses = RunRanks(kRanks, [&](int rank) {
    RINGSIDE_RETURN_IF_ERROR(links[rank].status());
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    TcpRingLink* link = links[rank]->get();
    FrameHeader header;
    header.kind = FrameKind::kAllGather;
    header.sender = static_cast<uint32_t>(rank);
    header.elements = 3;
    const std::vector<float> payload(3, static_cast<float>(rank));
    link->Send(header, payload);
    RINGSIDE_ASSIGN_OR_RETURN(const FrameHeader got, link->ReceiveHeader(deadline));
    std::vector<float> received(got.elements);
    RINGSIDE_RETURN_IF_ERROR(link->ReceivePayload(absl::MakeSpan(received), deadline));
    RINGSIDE_RETURN_IF_ERROR(link->Flush(deadline));
    const int left = (rank + 2) % 3;
    if (got.sender != static_cast<uint32_t>(left)) return absl::InternalError(Describe(got));
    if (received != std::vector<float>(3, static_cast<float>(left)))
      return absl::InternalError("wrong payload");
    return absl::OkStatus();
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(statuses[rank].ok()) << statuses[rank];
    EXPECT_EQ((*links[rank])->traffic(), (TrafficCounters{12, 12, 1, 1, 64, 64}));
  }
}

TEST(TcpRingLinkTest, ReportsCongestionControl) {
  auto links =
      ConnectRing(2, [](int, TcpRingLink::Config* config) { config->congestion_control = "reno"; });
  for (const auto& link : links) {
    ASSERT_TRUE(link.ok()) << link.status();
    EXPECT_EQ((*link)->congestion_control(), "reno");
  }
  auto defaults = ConnectRing(2);
  ASSERT_TRUE(defaults[0].ok());
  EXPECT_FALSE((*defaults[0])->congestion_control().empty());
}

TEST(TcpRingLinkTest, UnknownCongestionControlIsBadInput) {
  auto links =
      ConnectRing(2, [](int, TcpRingLink::Config* config) { config->congestion_control = "warp"; });
  for (const auto& link : links) {
    EXPECT_TRUE(absl::IsInvalidArgument(link.status()));
    EXPECT_THAT(Message(link), HasSubstr("\"warp\" is not available"));
    EXPECT_THAT(Message(link), HasSubstr("reno"));
  }
}

// Rank 0 of 2 differs from the other. Both must see why, whoever comes first.
void ExpectRefusedByBoth(const std::function<void(TcpRingLink::Config*)>& spoil,
                         absl::StatusCode code, const std::string& at_rank_0,
                         const std::string& at_rank_1) {
  const auto links = ConnectRing(2, [&](int rank, TcpRingLink::Config* config) {
    if (rank == 0) spoil(config);
  });
  EXPECT_EQ(links[0].status().code(), code) << links[0].status();
  EXPECT_EQ(links[1].status().code(), code) << links[1].status();
  EXPECT_THAT(Message(links[0]), HasSubstr(at_rank_0));
  EXPECT_THAT(Message(links[1]), HasSubstr(at_rank_1));
}

TEST(TcpRingLinkTest, WrongTokenIsRefused) {
  ExpectRefusedByBoth([](TcpRingLink::Config* config) { config->token = "guess"; },
                      absl::StatusCode::kPermissionDenied,
                      "worker 1 at 127.0.0.1:", "has another token");
}

TEST(TcpRingLinkTest, WrongGenerationIsRefused) {
  ExpectRefusedByBoth([](TcpRingLink::Config* config) { config->group.generation = 2; },
                      absl::StatusCode::kFailedPrecondition,
                      "is in generation 3, this process in generation 2",
                      "is in generation 2, this process in generation 3");
}

TEST(TcpRingLinkTest, WrongGroupIsRefused) {
  ExpectRefusedByBoth([](TcpRingLink::Config* config) { config->group.id = 9; },
                      absl::StatusCode::kFailedPrecondition,
                      "is in group 0, this process in group 9",
                      "is in group 9, this process in group 0");
}

TEST(TcpRingLinkTest, WrongPlanIsRefused) {
  ExpectRefusedByBoth([](TcpRingLink::Config* config) { config->plan_hash = "other"; },
                      absl::StatusCode::kFailedPrecondition, "has bucket plan ",
                      "has bucket plan ");
}

TEST(TcpRingLinkTest, WrongWiringIsRefused) {
  auto links = ConnectRing(3, [&](int rank, TcpRingLink::Config* config) {
    config->connect_timeout = absl::Milliseconds(300);
    if (rank == 0)
      config->group.members = {0, 2, 1};  // believes that worker 2 is its right neighbour
  });
  EXPECT_TRUE(absl::IsFailedPrecondition(links[0].status())) << links[0].status();
  EXPECT_THAT(
      Message(links[0]),
      HasSubstr("is worker 1 and means worker 0; this process is worker 0 and means worker 2"));
}

TEST(TcpRingLinkTest, AbsentLeftNeighbourIsNamed) {
  auto listener = TcpRingListener::Open(LoopbackBind());
  auto right = ListeningSocket::Bind(LoopbackBind());  // takes the call, says nothing
  ASSERT_TRUE(listener.ok() && right.ok());
  TcpRingLink::Config config;
  config.group = Group::World(3, 0, 1);
  config.right = {"127.0.0.1", (*right)->port()};
  config.connect_timeout = absl::Milliseconds(50);
  const auto link = TcpRingLink::Connect(*std::move(listener), config);
  EXPECT_TRUE(absl::IsDeadlineExceeded(link.status())) << link.status();
  EXPECT_THAT(Message(link), HasSubstr("worker 2 has not connected and worker 1 at 127.0.0.1:"));
  EXPECT_EQ(ToString(SuspectsOf(link.status())), "worker 2, worker 1");
}

TEST(TcpRingLinkTest, AbsentRightNeighbourIsNamed) {
  auto listener = TcpRingListener::Open(LoopbackBind());
  auto gone = TcpRingListener::Open(LoopbackBind());
  ASSERT_TRUE(listener.ok() && gone.ok());
  TcpRingLink::Config config;
  config.group = Group::World(2, 0, 1);
  config.right = (*gone)->endpoint();
  config.connect_timeout = absl::Milliseconds(50);
  gone->reset();
  const auto link = TcpRingLink::Connect(*std::move(listener), config);
  EXPECT_TRUE(absl::IsUnavailable(link.status())) << link.status();
  EXPECT_THAT(Message(link), HasSubstr("worker 1: cannot connect to 127.0.0.1:"));
  EXPECT_THAT(Message(link), HasSubstr("Connection refused"));
  EXPECT_EQ(ToString(SuspectsOf(link.status())), "worker 1");
}

// Strangers in the queue before the neighbours: one sends garbage, one says half a hello, one
// nothing, one hangs up.
TEST(TcpRingLinkTest, StrangersDoNotSpoilTheRing) {
  std::vector<std::unique_ptr<Socket>> strangers;
  auto links = ConnectRing(2, [&](int rank, TcpRingLink::Config* config) {
    if (rank != 0) return;
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    for (int i = 0; i < 4; ++i) strangers.push_back(*Socket::Connect(config->right, deadline));
    const std::vector<uint8_t> garbage(1000, 0xee);
    const std::vector<uint8_t> half(40, 0);
    ASSERT_TRUE(WriteFully(strangers[0].get(), garbage, deadline).ok());
    ASSERT_TRUE(WriteFully(strangers[1].get(), half, deadline).ok());
    strangers.pop_back();
  });
  for (const auto& link : links) EXPECT_TRUE(link.ok()) << link.status();
}

TEST(TcpRingLinkTest, SilentCallerIsDroppedAndReported) {
  auto listener = TcpRingListener::Open(LoopbackBind());
  auto right = ListeningSocket::Bind(LoopbackBind());
  ASSERT_TRUE(listener.ok() && right.ok());
  const auto stranger = Socket::Connect((*listener)->endpoint(), absl::Now() + absl::Seconds(30));
  ASSERT_TRUE(stranger.ok());
  TcpRingLink::Config config;
  config.group = Group::World(3, 0, 1);
  config.right = {"127.0.0.1", (*right)->port()};
  config.connect_timeout = absl::Milliseconds(200);
  config.hello_timeout = absl::Milliseconds(20);
  const auto link = TcpRingLink::Connect(*std::move(listener), config);
  EXPECT_THAT(Message(link), HasSubstr("last refused: a caller from 127.0.0.1:"));
  EXPECT_THAT(Message(link), HasSubstr("no hello in time"));
}

TEST(TcpRingLinkTest, ListenerNamesATakenPort) {
  const auto first = TcpRingListener::Open(LoopbackBind());
  ASSERT_TRUE(first.ok());
  BindAddress taken = LoopbackBind();
  taken.ports = {(*first)->endpoint().port, (*first)->endpoint().port};
  const auto second = TcpRingListener::Open(taken);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
}

TEST(TcpRingLinkTest, NeedsAtLeastTwo) {
  TcpRingLink::Config config;
  config.group = Group::World(1, 0, 0);
  EXPECT_TRUE(absl::IsInvalidArgument(
      TcpRingLink::Connect(*TcpRingListener::Open(LoopbackBind()), config).status()));
}

TEST(TcpRingLinkTest, InterruptWakesAReceive) {
  auto links = ConnectRing(2);
  ASSERT_TRUE(links[0].ok() && links[1].ok());
  std::thread thread([&] { (*links[0])->Interrupt(); });
  EXPECT_TRUE(
      absl::IsAborted((*links[0])->ReceiveHeader(absl::Now() + absl::Seconds(30)).status()));
  thread.join();
  EXPECT_TRUE(
      absl::IsAborted((*links[0])->ReceiveHeader(absl::Now() + absl::Seconds(30)).status()));
}

}  // namespace
}  // namespace ringside
