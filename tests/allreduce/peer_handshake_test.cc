#include "allreduce/peer_handshake.h"

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

std::string Message(const absl::StatusOr<MadeReducer>& link) { return link.status().ToString(); }

TEST(PeerHandshakeTest, ReportsCongestionControl) {
  auto links =
      ConnectRanks(2, [](int, ReducerConfig* config) { config->congestion_control = "reno"; });
  for (const auto& link : links) {
    ASSERT_TRUE(link.ok()) << link.status();
    EXPECT_EQ(link->facts.at("congestion_control"), "reno");
  }
  auto defaults = ConnectRanks(2);
  ASSERT_TRUE(defaults[0].ok());
  EXPECT_FALSE(defaults[0]->facts.at("congestion_control").empty());
}

TEST(PeerHandshakeTest, UnknownCongestionControlIsBadInput) {
  auto links =
      ConnectRanks(2, [](int, ReducerConfig* config) { config->congestion_control = "warp"; });
  for (const auto& link : links) {
    EXPECT_TRUE(absl::IsInvalidArgument(link.status()));
    EXPECT_THAT(Message(link), HasSubstr("\"warp\" is not available"));
    EXPECT_THAT(Message(link), HasSubstr("reno"));
  }
}

// Rank 0 of 2 differs from the other. Both must see why, whoever comes first.
void ExpectRefusedByBoth(const std::function<void(ReducerConfig*)>& spoil, absl::StatusCode code,
                         const std::string& at_rank_0, const std::string& at_rank_1) {
  const auto links = ConnectRanks(2, [&](int rank, ReducerConfig* config) {
    if (rank == 0) spoil(config);
  });
  EXPECT_EQ(links[0].status().code(), code) << links[0].status();
  EXPECT_EQ(links[1].status().code(), code) << links[1].status();
  EXPECT_THAT(Message(links[0]), HasSubstr(at_rank_0));
  EXPECT_THAT(Message(links[1]), HasSubstr(at_rank_1));
}

TEST(PeerHandshakeTest, WrongTokenIsRefused) {
  ExpectRefusedByBoth([](ReducerConfig* config) { config->token = "guess"; },
                      absl::StatusCode::kPermissionDenied,
                      "worker 1 at 127.0.0.1:", "has another token");
}

TEST(PeerHandshakeTest, WrongGenerationIsRefused) {
  ExpectRefusedByBoth([](ReducerConfig* config) { config->group.generation = 2; },
                      absl::StatusCode::kFailedPrecondition,
                      "is in generation 3, this process in generation 2",
                      "is in generation 2, this process in generation 3");
}

TEST(PeerHandshakeTest, WrongGroupIsRefused) {
  ExpectRefusedByBoth(
      [](ReducerConfig* config) { config->group.id = 9; }, absl::StatusCode::kFailedPrecondition,
      "is in group 0, this process in group 9", "is in group 9, this process in group 0");
}

TEST(PeerHandshakeTest, WrongPlanIsRefused) {
  ExpectRefusedByBoth([](ReducerConfig* config) { config->plan_hash = "other"; },
                      absl::StatusCode::kFailedPrecondition, "has bucket plan ",
                      "has bucket plan ");
}

TEST(PeerHandshakeTest, WrongWiringIsRefused) {
  auto links = ConnectRanks(3, [&](int rank, ReducerConfig* config) {
    config->connect_timeout = absl::Milliseconds(300);
    if (rank == 0)
      config->group.members = {0, 2, 1};  // believes that worker 2 is its right neighbour
  });
  EXPECT_TRUE(absl::IsFailedPrecondition(links[0].status())) << links[0].status();
  EXPECT_THAT(
      Message(links[0]),
      HasSubstr("is worker 1 and means worker 0; this process is worker 0 and means worker 2"));
}

// Rank 0 of `ranks`, whose right neighbour is at `right`.
PeerHandshake::Config ConfigOfRankZero(int ranks, const Endpoint& right) {
  PeerHandshake::Config config;
  config.group = Group::World(ranks, 0, 1);
  config.calls = {{1, "", right}};
  config.callers = {ranks - 1};
  config.connect_timeout = absl::Milliseconds(100);
  config.hello_timeout = absl::Seconds(5);
  return config;
}

TEST(PeerHandshakeTest, AbsentCallersAndSilentRanksAreNamed) {
  auto ports = DataPorts::Open(LoopbackBind());
  auto right = ListeningSocket::Bind(LoopbackBind());  // takes the call, says nothing
  ASSERT_TRUE(ports.ok() && right.ok());
  const auto config = ConfigOfRankZero(3, {"127.0.0.1", (*right)->port()});
  const absl::Status status =
      PeerHandshake(&config, (*ports)->tcp(), (*ports)->local()).Run().status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(status.ToString(),
              HasSubstr("worker 2 has not connected and worker 1 at 127.0.0.1:"));
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 2, worker 1");
}

TEST(PeerHandshakeTest, ARankThatCannotBeReachedIsNamed) {
  auto ports = DataPorts::Open(LoopbackBind());
  auto gone = DataPorts::Open(LoopbackBind());
  ASSERT_TRUE(ports.ok() && gone.ok());
  const auto config = ConfigOfRankZero(2, (*gone)->address().tcp);
  gone->reset();
  const absl::Status status = PeerHandshake(&config, (*ports)->tcp(), nullptr).Run().status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("worker 1: cannot connect to 127.0.0.1:"));
  EXPECT_THAT(status.ToString(), HasSubstr("Connection refused"));
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
}

// Everybody calls those after it and is called by those before it.
TEST(PeerHandshakeTest, EverybodyMeetsEverybody) {
  constexpr int kRanks = 5;
  std::vector<std::unique_ptr<DataPorts>> ports;
  for (int rank = 0; rank < kRanks; ++rank) ports.push_back(*DataPorts::Open(LoopbackBind()));
  const std::vector<absl::Status> statuses = RunRanks(kRanks, [&](int rank) {
    PeerHandshake::Config config;
    config.group = Group::World(kRanks, rank, 1);
    config.shares_memory = rank != 3;
    config.connect_timeout = absl::Seconds(30);
    config.hello_timeout = absl::Seconds(5);
    for (int other = 0; other < kRanks; ++other) {
      const PeerAddress& address = ports[other]->address();
      if (other < rank) config.callers.push_back(other);
      if (other > rank) config.calls.push_back({other, address.local, address.tcp});
    }
    auto met = PeerHandshake(&config, ports[rank]->tcp(), ports[rank]->local()).Run();
    if (!met.ok()) return met.status();
    EXPECT_EQ(met->callers.size(), rank);
    EXPECT_EQ(met->called.size(), kRanks - 1 - rank);
    for (const auto& side : {&met->callers, &met->called}) {
      for (const auto& [other, connection] : *side) {
        EXPECT_TRUE(connection.socket->is_local());
        EXPECT_EQ(connection.shares_memory, rank != 3 && other != 3);
      }
    }
    return absl::OkStatus();
  });
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok()) << status;
}

// Strangers in the queue before the neighbours: one sends garbage, one says half a hello, one
// nothing, one hangs up.
TEST(PeerHandshakeTest, StrangersDoNotSpoilTheRing) {
  std::vector<std::unique_ptr<Socket>> strangers;
  auto links = ConnectRanks(2, [&](int rank, ReducerConfig* config) {
    if (rank != 0) return;
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    for (int i = 0; i < 4; ++i)
      strangers.push_back(*Socket::Connect(config->peers[1].tcp, deadline));
    const std::vector<uint8_t> garbage(1000, 0xee);
    const std::vector<uint8_t> half(40, 0);
    ASSERT_TRUE(WriteFully(strangers[0].get(), garbage, deadline).ok());
    ASSERT_TRUE(WriteFully(strangers[1].get(), half, deadline).ok());
    strangers.pop_back();
  });
  for (const auto& link : links) EXPECT_TRUE(link.ok()) << link.status();
}

TEST(PeerHandshakeTest, SilentCallerIsDroppedAndReported) {
  auto ports = DataPorts::Open(LoopbackBind());
  auto right = ListeningSocket::Bind(LoopbackBind());
  ASSERT_TRUE(ports.ok() && right.ok());
  const auto stranger = Socket::Connect((*ports)->address().tcp, absl::Now() + absl::Seconds(30));
  ASSERT_TRUE(stranger.ok());
  auto config = ConfigOfRankZero(3, {"127.0.0.1", (*right)->port()});
  config.connect_timeout = absl::Milliseconds(200);
  config.hello_timeout = absl::Milliseconds(20);
  const std::string message =
      PeerHandshake(&config, (*ports)->tcp(), (*ports)->local()).Run().status().ToString();
  EXPECT_THAT(message, HasSubstr("last refused: a caller from 127.0.0.1:"));
  EXPECT_THAT(message, HasSubstr("no hello in time"));
}

TEST(PeerHandshakeTest, PortsNameATakenOne) {
  const auto first = DataPorts::Open(LoopbackBind());
  ASSERT_TRUE(first.ok());
  BindAddress taken = LoopbackBind();
  taken.ports = {(*first)->address().tcp.port, (*first)->address().tcp.port};
  const auto second = DataPorts::Open(taken);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
}

}  // namespace
}  // namespace ringside
