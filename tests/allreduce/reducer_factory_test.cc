#include "allreduce/reducer_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "common/suspects.h"
#include "tests/allreduce/all_reducer_suite.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {
namespace {

using testing::HasSubstr;

// A link or schedule, and a wire dtype. With `in_arenas` buffers are read where they are, else
// copied.
AllReducerCase LinkCase(const std::string& name, const std::string& link,
                        const std::string& schedule, bool in_arenas,
                        WireDtype dtype = WireDtype::kFloat32, int64_t segment_bytes = 4 << 10) {
  AllReducerCase result{name, nullptr, segment_bytes / 4, true, dtype};
  result.make_with_arenas = [=](int ranks, const std::vector<std::vector<const Arena*>>& arenas) {
    return MakeReducers(ranks, [&](int rank, ReducerConfig* config) {
      config->link = link;
      config->schedule = schedule;
      config->wire_dtype = dtype;
      config->segment_bytes = segment_bytes;
      if (in_arenas) config->arenas = arenas[rank];
    });
  };
  return result;
}

constexpr WireDtype kBf16 = WireDtype::kBFloat16;
constexpr WireDtype kFp16 = WireDtype::kFloat16;

INSTANTIATE_TEST_SUITE_P(
    Links, AllReducerSuite,
    testing::Values(LinkCase("Uds", "uds", "ring", false), LinkCase("Shm", "shm", "ring", true),
                    LinkCase("ShmOutsideOfArenas", "shm", "ring", false),
                    LinkCase("ShmOneElementSegments", "shm", "ring", true, WireDtype::kFloat32, 4),
                    LinkCase("Auto", "auto", "ring", true),
                    LinkCase("TcpBf16", "tcp", "ring", false, kBf16),
                    LinkCase("TcpFp16", "tcp", "ring", false, kFp16),
                    LinkCase("ShmBf16", "shm", "ring", true, kBf16),
                    LinkCase("ShmFp16", "shm", "ring", true, kFp16)),
    AllReducerCaseName);

// The unit of the direct schedule: what a short sum of two ranks holds at most.
constexpr int64_t kShortBytes = 4 << 10;

INSTANTIATE_TEST_SUITE_P(Direct, AllReducerSuite,
                         testing::Values(LinkCase("InArenas", "auto", "direct", true,
                                                  WireDtype::kFloat32, kShortBytes),
                                         LinkCase("OutsideOfArenas", "shm", "direct", false,
                                                  WireDtype::kFloat32, kShortBytes),
                                         LinkCase("ByAuto", "auto", "auto", true)),
                         AllReducerCaseName);

// Neighbours that reach each other by different means: 0 and 1 share memory, 2 is far.
AllReducerCase MixedCase(const std::string& name, bool in_arenas, int64_t segment_bytes) {
  AllReducerCase result{name, nullptr, segment_bytes / 4};
  result.make_with_arenas = [=](int ranks, const std::vector<std::vector<const Arena*>>& arenas) {
    return MakeReducers(ranks, [&](int rank, ReducerConfig* config) {
      config->link = "auto";
      config->segment_bytes = segment_bytes;
      for (int i = 2; i < ranks; ++i) config->peers[i].host.set_boot_id(absl::StrCat("host ", i));
      if (in_arenas) config->arenas = arenas[rank];
    });
  };
  return result;
}

INSTANTIATE_TEST_SUITE_P(Mixed, AllReducerSuite,
                         testing::Values(MixedCase("SharedAndTcp", true, 4 << 10),
                                         MixedCase("CopiedAndTcp", false, 4),
                                         MixedCase("LargeSegments", true, 64 << 10)),
                         AllReducerCaseName);

void ExpectLinks(const std::vector<absl::StatusOr<MadeReducer>>& made, int rank,
                 const std::string& left, const std::string& right) {
  ASSERT_TRUE(made[rank].ok()) << made[rank].status();
  EXPECT_EQ(made[rank]->schedule, "ring");
  EXPECT_EQ(made[rank]->facts.at("left_link"), left);
  EXPECT_EQ(made[rank]->facts.at("right_link"), right);
}

TEST(ReducerFactoryTest, AutoSharesMemoryOnOneHostAndUsesTcpBetweenHosts) {
  const auto made = ConnectRanks(3, [](int, ReducerConfig* config) {
    config->link = "auto";
    config->peers[2].host.set_network_namespace("net:[1]");
  });
  ExpectLinks(made, 0, "tcp", "shm");
  ExpectLinks(made, 1, "shm", "tcp");
  ExpectLinks(made, 2, "tcp", "tcp");
  EXPECT_FALSE(made[2]->facts.at("congestion_control").empty());
  EXPECT_EQ(made[1]->facts.count("cpu_kernels"), 1);
}

TEST(ReducerFactoryTest, AUnixSocketThatIsNotThereIsReplacedByTcp) {
  const auto made = ConnectRanks(2, [](int, ReducerConfig* config) {
    config->link = "uds";
    config->peers[1].local = "ringside-nobody-listens-here";
  });
  ExpectLinks(made, 0, "uds", "tcp");
  ExpectLinks(made, 1, "tcp", "uds");
}

TEST(ReducerFactoryTest, ARankThatSharesNoMemoryIsReachedThroughASocket) {
  const auto made = ConnectRanks(
      3, [](int rank, ReducerConfig* config) { config->link = rank == 1 ? "uds" : "shm"; });
  ExpectLinks(made, 0, "shm", "uds");
  ExpectLinks(made, 1, "uds", "uds");
  ExpectLinks(made, 2, "uds", "shm");
}

TEST(ReducerFactoryTest, ADirectScheduleThatIsNotToBeHadBecomesARing) {
  for (const int ranks : {2, 3}) {
    auto made = ConnectRanks(ranks, [](int rank, ReducerConfig* config) {
      config->link = "shm";
      config->schedule = "direct";
      // Its Unix socket cannot be reached, so it can be given no memory.
      config->peers[1].local = rank == 0 ? "ringside-nobody-listens-here" : "?";
    });
    for (int rank = 0; rank < ranks; ++rank) {
      ASSERT_TRUE(made[rank].ok()) << made[rank].status();
      EXPECT_EQ(made[rank]->schedule, "ring");
    }
    const std::vector<absl::Status> statuses = RunRanks(ranks, [&](int rank) {
      std::vector<float> buffer(100000, 1);
      const absl::Status status = made[rank]->reducer->Sum({1, 0}, buffer, absl::MakeSpan(buffer));
      EXPECT_EQ(buffer, std::vector<float>(100000, static_cast<float>(ranks)));
      return status;
    });
    for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(ReducerFactoryTest, RefusesWhatCannotBe) {
  const auto refusal = [](const std::function<void(ReducerConfig*)>& adjust) {
    return ConnectRanks(2, [&](int, ReducerConfig* config) { adjust(config); })[0]
        .status()
        .ToString();
  };
  EXPECT_THAT(refusal([](ReducerConfig* config) { config->link = "warp"; }),
              HasSubstr("--ring_link=warp: must be one of auto, tcp, uds, shm"));
  EXPECT_THAT(refusal([](ReducerConfig* config) { config->schedule = "tree"; }),
              HasSubstr("--schedule=tree: must be one of ring, direct, auto"));
  const std::string needs = "--schedule=direct needs all ranks on one host";
  EXPECT_THAT(refusal([](ReducerConfig* config) {
                config->schedule = "direct";
                config->link = "tcp";
              }),
              HasSubstr(needs));
  EXPECT_THAT(refusal([](ReducerConfig* config) {
                config->schedule = "direct";
                config->link = "auto";
                config->wire_dtype = kBf16;
              }),
              HasSubstr(needs));
  EXPECT_THAT(refusal([](ReducerConfig* config) {
                config->schedule = "direct";
                config->link = "auto";
                config->peers[1].host.clear_boot_id();
              }),
              HasSubstr(needs));
}

TEST(ReducerFactoryTest, CountsWhatTheFormulaSays) {
  const std::vector<int64_t> lengths = {0, 1, 7, 1000, 40000};
  for (const char* schedule : {"ring", "direct"}) {
    for (const WireDtype dtype : {WireDtype::kFloat32, WireDtype::kBFloat16}) {
      if (dtype != WireDtype::kFloat32 && schedule == std::string("direct")) continue;
      for (const int ranks : {1, 2, 3}) {
        const auto made = ConnectRanks(ranks, [&](int, ReducerConfig* config) {
          config->link = "shm";
          config->schedule = schedule;
          config->wire_dtype = dtype;
          config->segment_bytes = 1 << 10;
        });
        for (const auto& rank : made) ASSERT_TRUE(rank.ok()) << rank.status();
        RunRanks(ranks, [&](int rank) {
          for (size_t i = 0; i < lengths.size(); ++i) {
            std::vector<float> buffer(lengths[i], 1);
            EXPECT_TRUE(
                made[rank]
                    ->reducer->Sum({1, static_cast<uint32_t>(i)}, buffer, absl::MakeSpan(buffer))
                    .ok());
          }
          return absl::OkStatus();
        });
        for (const auto& rank : made) {
          EXPECT_EQ(rank->reducer->traffic(), rank->expected_traffic(lengths)) << schedule << ranks;
        }
      }
    }
  }
}

TEST(ReducerFactoryTest, ASumLongerThanAnnouncedIsRefusedForASixteenBitWire) {
  const auto made = ConnectRanks(2, [](int, ReducerConfig* config) {
    config->wire_dtype = kFp16;
    config->max_elements = 100;
  });
  ASSERT_TRUE(made[0].ok()) << made[0].status();
  std::vector<float> buffer(101);
  EXPECT_THAT(made[0]->reducer->Sum({1, 0}, buffer, absl::MakeSpan(buffer)).ToString(),
              HasSubstr("a sum of 101 elements; the wire arena holds 100 16-bit values"));
}

// Every link and schedule, with and without shared arenas.
struct FaultCase {
  std::string link;
  std::string schedule;
};

class LostPeerTest : public testing::TestWithParam<FaultCase> {
 protected:
  std::vector<absl::StatusOr<MadeReducer>> Connect(int ranks, absl::Duration timeout) {
    return ConnectRanks(ranks, [&](int, ReducerConfig* config) {
      config->link = GetParam().link;
      config->schedule = GetParam().schedule;
      config->step_timeout = timeout;
    });
  }
};

TEST_P(LostPeerTest, APeerThatGoesIsNamedByItsNeighbourLongBeforeTheDeadline) {
  auto made = Connect(3, absl::Seconds(60));
  for (const auto& rank : made) ASSERT_TRUE(rank.ok()) << rank.status();
  made[1]->reducer.reset();
  const absl::Time start = absl::Now();
  const std::vector<absl::Status> statuses = RunRanks(3, [&](int rank) {
    if (rank == 1) return absl::OkStatus();
    std::vector<float> buffer(100000, 1);
    const absl::Status status = made[rank]->reducer->Sum({1, 0}, buffer, absl::MakeSpan(buffer));
    if (rank == 2) made[0]->reducer->Abort(absl::CancelledError("verdict"));
    return status;
  });
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
  EXPECT_TRUE(absl::IsUnavailable(statuses[2])) << statuses[2];
  EXPECT_EQ(ToString(SuspectsOf(statuses[2])), "worker 1") << statuses[2];
  EXPECT_THAT(statuses[2].ToString(), HasSubstr("in step 1 bucket 0"));
}

TEST_P(LostPeerTest, ASilentPeerIsNamedAtTheDeadline) {
  auto made = Connect(3, absl::Milliseconds(100));
  for (const auto& rank : made) ASSERT_TRUE(rank.ok()) << rank.status();
  const std::vector<absl::Status> statuses = RunRanks(3, [&](int rank) {
    if (rank == 1) return absl::OkStatus();
    std::vector<float> buffer(100000, 1);
    return made[rank]->reducer->Sum({1, 0}, buffer, absl::MakeSpan(buffer));
  });
  EXPECT_TRUE(absl::IsDeadlineExceeded(statuses[2])) << statuses[2];
  EXPECT_THAT(ToString(SuspectsOf(statuses[2])), HasSubstr("worker 1"));
}

TEST_P(LostPeerTest, AnotherLengthIsRefusedByName) {
  auto made = Connect(2, absl::Seconds(30));
  for (const auto& rank : made) ASSERT_TRUE(rank.ok()) << rank.status();
  const std::vector<absl::Status> statuses = RunRanks(2, [&](int rank) {
    std::vector<float> buffer(100000 + 2 * rank, 1);
    return made[rank]->reducer->Sum({1, 0}, buffer, absl::MakeSpan(buffer));
  });
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_FALSE(statuses[rank].ok());
    EXPECT_EQ(ToString(SuspectsOf(statuses[rank])), absl::StrCat("worker ", 1 - rank))
        << statuses[rank];
  }
}

TEST_P(LostPeerTest, AnotherSumIsRefusedByName) {
  auto made = Connect(2, absl::Seconds(30));
  for (const auto& rank : made) ASSERT_TRUE(rank.ok()) << rank.status();
  const std::vector<absl::Status> statuses = RunRanks(2, [&](int rank) {
    std::vector<float> buffer(100, 1);
    return made[rank]->reducer->Sum({1, static_cast<uint32_t>(rank)}, buffer,
                                    absl::MakeSpan(buffer));
  });
  EXPECT_TRUE(absl::IsFailedPrecondition(statuses[0])) << statuses[0];
  EXPECT_EQ(ToString(SuspectsOf(statuses[0])), "worker 1");
}

TEST_P(LostPeerTest, AnotherGenerationIsRefusedByName) {
  auto made = ConnectRanks(2, [&](int rank, ReducerConfig* config) {
    config->link = GetParam().link;
    config->schedule = GetParam().schedule;
    if (rank == 1) config->group.generation = 4;
    config->connect_timeout = absl::Seconds(1);
  });
  EXPECT_TRUE(absl::IsFailedPrecondition(made[0].status())) << made[0].status();
  EXPECT_THAT(made[0].status().ToString(),
              HasSubstr("is in generation 4, this process in generation 3"));
}

INSTANTIATE_TEST_SUITE_P(Links, LostPeerTest,
                         testing::Values(FaultCase{"tcp", "ring"}, FaultCase{"uds", "ring"},
                                         FaultCase{"shm", "ring"}, FaultCase{"shm", "direct"}),
                         [](const testing::TestParamInfo<FaultCase>& info) {
                           return absl::StrCat(info.param.link, "_", info.param.schedule);
                         });

}  // namespace
}  // namespace ringside
