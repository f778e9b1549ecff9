// The bits of a shard do not depend on the number of threads that it folds with, in any mode.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/ps_server/shard_frames.h"

namespace ringside {
namespace {

constexpr int kWorkers = 3;

struct Mode {
  std::string name;
  PsPolicy policy;
};

PsPolicy SyncWithServerUpdate() {
  PsPolicy policy;
  policy.update_on_server = true;
  return policy;
}

class ShardThreadsTest : public ::testing::TestWithParam<Mode> {};

INSTANTIATE_TEST_SUITE_P(Modes, ShardThreadsTest,
                         ::testing::Values(Mode{"sync", PsPolicy{}},
                                           Mode{"sync_update_on_server", SyncWithServerUpdate()},
                                           Mode{"async", PsPolicy{PsMode::kAsync}},
                                           Mode{"ssp", PsPolicy{PsMode::kSsp}},
                                           Mode{"backup", PsPolicy{PsMode::kBackup, true, 0, 1}}),
                         [](const ::testing::TestParamInfo<Mode>& info) {
                           return info.param.name;
                         });

// The values of all results of two steps, one after the other.
std::vector<float> Trained(const BucketPlan& plan, const PsPolicy& policy,
                           const NamedUpdate& update, int threads, unsigned seed) {
  ParameterShard::Config config{plan, {kWorkers, 1, kMaxFramePayloadBytes}, 0};
  config.policy = policy;
  config.optimizer = update.optimizer;
  config.learning_rate = update.rate;
  config.full_batch = 9;  // other than the samples that count, so that backup scales
  config.threads = threads;
  const auto shard = MakeShard(std::move(config));
  std::mt19937 random(seed);
  std::vector<float> values;
  for (uint64_t step = 0; step < 2; ++step) {
    for (int unit = 0; unit < shard->table().size(); ++unit) {
      for (int worker = 0; worker < kWorkers; ++worker) {
        const size_t cut = random() % (shard->table().unit(unit).range.length * sizeof(float));
        for (const ParameterShard::Result& result :
             Take(shard.get(), RandomPush(plan, shard->table().unit(unit), worker, step, cut))) {
          values.insert(values.end(), result.values.begin(), result.values.end());
        }
      }
    }
  }
  return values;
}

TEST_P(ShardThreadsTest, SameBitsWithAnyNumberOfThreads) {
  std::mt19937 random(11);
  for (const NamedUpdate& update : TestUpdates()) {
    const auto large = static_cast<int64_t>(kWorkers * (100000 + random() % 10000));
    const BucketPlan plan = PlanWithBuckets({large, 7001, 5});
    const auto seed = static_cast<unsigned>(random());
    const std::vector<float> expected = Trained(plan, GetParam().policy, update, 1, seed);
    ASSERT_FALSE(expected.empty());
    for (int threads : {2, 3}) {
      EXPECT_TRUE(SameBits(Trained(plan, GetParam().policy, update, threads, seed), expected))
          << update.optimizer.name << ", " << threads << " threads";
    }
  }
}

TEST(ShardThreadsRefusalTest, NoThreadIsRefused) {
  ParameterShard::Config config{PlanWithBuckets({5}), {1, 1, kMaxFramePayloadBytes}, 0};
  config.threads = 0;
  const auto made = ParameterShard::Create(std::move(config));
  EXPECT_EQ(made.status().message(), "--shard_threads=0: must be at least 1");
}

}  // namespace
}  // namespace ringside
