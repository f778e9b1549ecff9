#include "worker/data/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace ringside {
namespace {

Sampler MakeSampler(int64_t samples, int64_t global_batch, int64_t seed) {
  auto sampler = Sampler::Create(samples, global_batch, seed);
  EXPECT_TRUE(sampler.ok()) << sampler.status();
  return *sampler;
}

// The global batch of a step, put together from its shares.
std::vector<uint32_t> GlobalBatch(Sampler* sampler, int64_t step, int world_size) {
  std::vector<uint32_t> batch;
  for (int rank = 0; rank < world_size; ++rank) {
    const Sampler::Share share = sampler->ShareOf(step, world_size, rank);
    batch.insert(batch.end(), share.indices.begin(), share.indices.end());
  }
  return batch;
}

TEST(SamplerTest, EverySampleOncePerEpochForAnyWorld) {
  for (int64_t samples : {1, 7, 100, 101}) {
    for (int64_t global_batch : {1, 4, 7, 100, 1000}) {
      for (int world : {1, 2, 3, 5}) {
        Sampler sampler = MakeSampler(samples, global_batch, 3);
        for (int64_t epoch : {0, 1}) {
          std::vector<int> seen(samples, 0);
          for (int64_t k = 1; k <= sampler.steps_per_epoch(); ++k) {
            const int64_t step = epoch * sampler.steps_per_epoch() + k;
            for (uint32_t index : GlobalBatch(&sampler, step, world)) ++seen[index];
          }
          EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), samples)
              << samples << " samples, batch " << global_batch << ", world " << world;
        }
      }
    }
  }
}

// Everything that the sampler promises, over sizes nobody chose.
TEST(SamplerTest, KeepsItsPromisesForRandomSizes) {
  std::mt19937 random(11);
  const auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int round = 0; round < 60; ++round) {
    const int64_t samples = draw(1, 300);
    const int64_t batch = draw(1, round % 2 == 0 ? 20 : 400);
    const int64_t seed = draw(0, 1 << 30);
    const int world = static_cast<int>(draw(1, 9));
    SCOPED_TRACE(
        absl::StrCat(samples, " samples, batch ", batch, ", seed ", seed, ", world ", world));
    Sampler sampler = MakeSampler(samples, batch, seed);
    Sampler alone = MakeSampler(samples, batch, seed);
    const int64_t steps = sampler.steps_per_epoch();
    EXPECT_EQ(steps, (samples + batch - 1) / batch);
    std::vector<std::vector<uint32_t>> epochs(2);
    for (int64_t step = 1; step <= 2 * steps; ++step) {
      const std::vector<uint32_t> global = GlobalBatch(&sampler, step, world);
      EXPECT_EQ(global, GlobalBatch(&alone, step, 1)) << "depends on the number of ranks";
      const bool is_last = step % steps == 0;
      EXPECT_EQ(static_cast<int64_t>(global.size()),
                is_last ? samples - (steps - 1) * batch : batch);
      std::vector<uint32_t>& epoch = epochs[(step - 1) / steps];
      epoch.insert(epoch.end(), global.begin(), global.end());
      int64_t least = samples;
      int64_t most = 0;
      for (int rank = 0; rank < world; ++rank) {
        const Sampler::Share share = sampler.ShareOf(step, world, rank);
        EXPECT_EQ(share.epoch, (step - 1) / steps);
        EXPECT_EQ(share.global_samples, static_cast<int64_t>(global.size()));
        least = std::min<int64_t>(least, share.indices.size());
        most = std::max<int64_t>(most, share.indices.size());
      }
      EXPECT_LE(most - least, 1) << "shares are uneven";
    }
    for (const std::vector<uint32_t>& epoch : epochs) {
      EXPECT_EQ(static_cast<int64_t>(epoch.size()), samples) << "dropped or repeated";
      EXPECT_EQ(static_cast<int64_t>(std::set<uint32_t>(epoch.begin(), epoch.end()).size()),
                samples);
    }
    if (samples > 20) {
      EXPECT_NE(epochs[0], epochs[1]) << "not reshuffled";
    }
    // Whoever comes late to any step sees what was seen from the start.
    const int64_t resumed = draw(1, 2 * steps);
    Sampler late = MakeSampler(samples, batch, seed);
    EXPECT_EQ(GlobalBatch(&late, resumed, world), GlobalBatch(&sampler, resumed, world));
  }
}

TEST(SamplerTest, GlobalBatchesDoNotDependOnTheWorld) {
  Sampler sampler = MakeSampler(103, 12, 5);
  for (int64_t step = 1; step <= 2 * sampler.steps_per_epoch(); ++step) {
    const std::vector<uint32_t> alone = GlobalBatch(&sampler, step, 1);
    for (int world : {2, 3, 4, 13}) EXPECT_EQ(GlobalBatch(&sampler, step, world), alone);
  }
}

TEST(SamplerTest, TheLastBatchIsShorterAndWeightsAddUpToOne) {
  Sampler sampler = MakeSampler(10, 8, 1);
  ASSERT_EQ(sampler.steps_per_epoch(), 2);
  EXPECT_EQ(sampler.ShareOf(1, 3, 0).global_samples, 8);
  const int64_t expected[] = {1, 1, 0};
  double weights = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const Sampler::Share share = sampler.ShareOf(2, 3, rank);
    EXPECT_EQ(share.global_samples, 2);
    EXPECT_EQ(static_cast<int64_t>(share.indices.size()), expected[rank]);
    weights += LossWeight(share.indices.size(), share.global_samples);
  }
  EXPECT_EQ(weights, 1.0);
  EXPECT_EQ(sampler.ShareOf(3, 3, 0).epoch, 1);
}

TEST(SamplerTest, DependsOnSeedAndEpochAlone) {
  Sampler one = MakeSampler(50, 50, 1);
  Sampler same = MakeSampler(50, 50, 1);
  Sampler other = MakeSampler(50, 50, 2);
  const auto first_epoch = GlobalBatch(&one, 1, 1);
  EXPECT_NE(first_epoch, GlobalBatch(&other, 1, 1));
  EXPECT_NE(first_epoch, GlobalBatch(&one, 2, 1));
  // Going back gives the same again, in any order of asking.
  EXPECT_EQ(GlobalBatch(&same, 2, 1), GlobalBatch(&one, 2, 1));
  EXPECT_EQ(GlobalBatch(&same, 1, 1), first_epoch);
}

TEST(SamplerTest, ThePermutationIsFixedForEver) {
  Sampler sampler = MakeSampler(8, 8, 1);
  EXPECT_EQ(GlobalBatch(&sampler, 1, 1), (std::vector<uint32_t>{7, 6, 0, 5, 2, 3, 1, 4}));
}

TEST(SamplerTest, RefusesWhatIsEmpty) {
  EXPECT_EQ(Sampler::Create(0, 1, 1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Sampler::Create(1, 0, 1).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ringside
