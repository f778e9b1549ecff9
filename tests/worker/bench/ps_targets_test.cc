#include "worker/bench/ps_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::HasSubstr;

PsMeasurement Timed(const std::string& contender, int workers, int shards, int64_t bytes,
                    double time_us, const std::string& ceiling = "") {
  PsMeasurement measurement;
  measurement.set_contender(contender);
  measurement.set_workers(workers);
  measurement.set_shards(shards);
  measurement.set_bytes(bytes);
  measurement.set_time_us(time_us);
  measurement.set_ceiling(ceiling);
  return measurement;
}

PsTarget Find(const std::vector<PsTarget>& targets, const std::string& what,
              const std::string& contender, int workers, int shards, int64_t bytes) {
  for (const PsTarget& each : targets) {
    if (each.what() == what && each.contender() == contender && each.workers() == workers &&
        each.shards() == shards && each.bytes() == bytes) {
      return each;
    }
  }
  ADD_FAILURE() << "no target " << what << " of " << contender;
  return {};
}

constexpr int64_t k16M = 16 << 20;
constexpr int64_t k100M = 100 << 20;

TEST(PsTargetsTest, ShareOfTheBetterRawApiDependsOnTheLink) {
  for (const auto& [link, bound] :
       {std::make_pair(std::string("grpc_tcp"), 0.8), {std::string("grpc_uds"), 0.7}}) {
    const std::string server = "ps/" + link;
    const std::string raw = "raw/" + link;
    const auto judge = [&](double ours) {
      return Find(EvaluatePsTargets(
                      {Timed(raw + "/callback", 2, 2, k16M, 1000),
                       Timed(raw + "/sync", 2, 2, k16M, 900), Timed(server, 2, 2, k16M, ours, raw)},
                      {}),
                  "share of raw gRPC", server, 2, 2, k16M);
    };
    EXPECT_TRUE(judge(899 / bound).met());
    EXPECT_FALSE(judge(901 / bound).met());
    EXPECT_EQ(judge(1000).against(), raw + "/sync");
    EXPECT_DOUBLE_EQ(judge(1000).ratio(), 0.9);
  }
}

TEST(PsTargetsTest, PsLiteIsAMatterOfMilliseconds) {
  const auto judge = [](const std::string& server, double ms) {
    return Find(EvaluatePsTargets({Timed(server, 4, 2, k100M, ms * 1000)}, {}),
                "time against ps-lite", server, 4, 2, k100M);
  };
  EXPECT_TRUE(judge("ps/grpc_tcp", 245 * 1.19).met());
  EXPECT_FALSE(judge("ps/grpc_tcp", 245 * 1.21).met());
  EXPECT_TRUE(judge("ps/grpc_uds", 183 * 1.29).met());
  EXPECT_FALSE(judge("ps/grpc_uds", 183 * 1.31).met());
  EXPECT_TRUE(judge("ps/shm", 183 * 0.24).met());
  EXPECT_FALSE(judge("ps/shm", 183 * 0.26).met());
}

TEST(PsTargetsTest, SharedMemoryIsComparedWithTheMemoryCeiling) {
  const auto targets = EvaluatePsTargets(
      {Timed("memory", 2, 1, k100M, 700), Timed("ps/shm", 2, 1, k100M, 1000, "memory")}, {});
  const PsTarget target = Find(targets, "share of the memory ceiling", "ps/shm", 2, 1, k100M);
  EXPECT_DOUBLE_EQ(target.ratio(), 0.7);
  EXPECT_TRUE(target.met());
}

TEST(PsTargetsTest, SmallExchangesMayTakeTwoHundredMicroseconds) {
  const auto judge = [](double us) {
    return Find(EvaluatePsTargets({Timed("ps/grpc_tcp", 2, 1, 4096, us)}, {}), "4 KiB push+pull",
                "ps/grpc_tcp", 2, 1, 4096);
  };
  EXPECT_TRUE(judge(200).met());
  EXPECT_FALSE(judge(201).met());
}

TEST(PsTargetsTest, TheShardWithTheMostMemoryCounts) {
  PsShardMemory shard;
  shard.set_contender("ps/grpc_tcp");
  shard.set_workers(2);
  shard.set_shards(2);
  shard.set_bytes(k100M);
  shard.set_peak_rss_bytes(300 << 20);
  shard.set_excess_bytes(32 << 20);
  PsShardMemory other = shard;
  other.set_excess_bytes(65 << 20);
  const auto judge = [](const std::vector<PsShardMemory>& memory) {
    return Find(EvaluatePsTargets({}, memory), "shard RSS beyond arenas and parked frames",
                "ps/grpc_tcp", 2, 2, k100M);
  };
  EXPECT_TRUE(judge({shard}).met());
  EXPECT_DOUBLE_EQ(judge({shard}).measured(), 32);
  EXPECT_FALSE(judge({shard, other}).met());
  shard.set_excess_bytes(0);
  EXPECT_TRUE(judge({shard}).met()) << "nothing beyond is not the same as not measured";
}

TEST(PsTargetsTest, FoldingIsComparedWithThePlainKernel) {
  const auto targets = EvaluatePsTargets(
      {Timed("add", 4, 2, k16M, 790), Timed("fold", 4, 2, k16M, 1000, "add")}, {});
  const PsTarget target = Find(targets, "fold throughput of one shard thread", "fold", 4, 2, k16M);
  EXPECT_DOUBLE_EQ(target.ratio(), 0.79);
  EXPECT_FALSE(target.met());
}

TEST(PsTargetsTest, WhatWasNotMeasuredIsNotMet) {
  for (const PsTarget& each : EvaluatePsTargets({}, {})) {
    EXPECT_EQ(each.ratio(), 0);
    EXPECT_FALSE(each.met());
  }
  EXPECT_THAT(PsTargetTable(EvaluatePsTargets({}, {})), HasSubstr("not measured"));
}

TEST(PsTargetsTest, TheTableSaysMetOrMissed) {
  const std::string table = PsTargetTable(EvaluatePsTargets(
      {Timed("ps/grpc_tcp", 2, 1, 4096, 100), Timed("ps/grpc_tcp", 2, 1, k100M, 999'000)}, {}));
  EXPECT_THAT(table, HasSubstr("0.500  <= 1.00  met"));
  EXPECT_THAT(table, HasSubstr("6.750  <= 1.20  MISSED"));
}

}  // namespace
}  // namespace ringside
