#include "worker/data/batch_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "tests/worker/data/data_folder.h"
#include "worker/data/synthetic_dataset.h"

namespace ringside {
namespace {

// Samples that know their index. Can be told to fail, and counts what is being fetched.
class IndexDataset final : public Dataset {
 public:
  explicit IndexDataset(int64_t size) : Dataset(size, SampleShape::Image(1, 1, 2, 1 << 30)) {}

  std::atomic<int64_t> failing{-1};
  mutable std::atomic<int64_t> fetched{0};

 private:
  absl::Status FetchSample(int64_t index, const SampleSpans& out) const override {
    ++fetched;
    if (index == failing) return absl::InvalidArgumentError("image 7 is damaged");
    out.images[0] = out.images[1] = static_cast<float>(index);
    out.labels[0] = index;
    return absl::OkStatus();
  }
};

std::unique_ptr<BatchLoader> Make(const BatchLoader::Config& config, const Dataset* data) {
  auto loader = BatchLoader::Create(config, data);
  EXPECT_TRUE(loader.ok()) << loader.status();
  return *std::move(loader);
}

// Everything about a micro-batch but where it lies.
struct Contents {
  std::vector<int64_t> numbers;
  std::vector<float> images;
  std::vector<int64_t> labels;

  bool operator==(const Contents& other) const {
    return numbers == other.numbers && images == other.images && labels == other.labels;
  }
};

Contents Get(BatchLoader* loader, int64_t step, int rank, int part) {
  const auto loaded = loader->Get(step, rank, part);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return {{loaded->epoch, loaded->global_samples, loaded->rank_samples, loaded->samples},
          {loaded->batch.images.begin(), loaded->batch.images.end()},
          {loaded->batch.labels.begin(), loaded->batch.labels.end()}};
}

TEST(BatchLoaderTest, AnyNumberOfThreadsGivesTheSameBitsOverRandomJumps) {
  std::mt19937 random(5);
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int round = 0; round < 12; ++round) {
    const IndexDataset data(draw(1, 60));
    BatchLoader::Config config;
    config.world_size = draw(1, 4);
    config.global_batch_size = draw(1, 25);
    config.accumulate = draw(1, 3);
    config.seed = round;
    for (int rank = draw(0, config.world_size - 1); rank < config.world_size; ++rank) {
      config.ranks.push_back(rank);
    }
    const auto alone = Make(config, &data);
    config.threads = draw(1, 4);
    const auto ahead = Make(config, &data);
    int64_t step = 1;
    for (int turn = 0; turn < 30; ++turn) {
      for (int rank : config.ranks) {
        for (int part = 0; part < config.accumulate; ++part) {
          ASSERT_EQ(Get(ahead.get(), step, rank, part), Get(alone.get(), step, rank, part))
              << "step " << step << ", rank " << rank << ", part " << part;
          if (draw(0, 40) == 0) break;  // some micro-batches are left out
        }
      }
      // Mostly the next; at times the same again, an earlier or a later one.
      const int what = draw(0, 9);
      step = what == 0 ? step : what == 1 ? draw(1, 40) : step + 1;
    }
  }
}

TEST(BatchLoaderTest, MicroBatchesAreTheSamplersShares) {
  const IndexDataset data(23);
  BatchLoader::Config config;
  config.world_size = 3;
  config.global_batch_size = 10;
  config.accumulate = 4;
  config.seed = 9;
  config.ranks = {0, 1, 2};
  config.threads = 2;
  const auto loader = Make(config, &data);
  Sampler sampler = *Sampler::Create(23, 10, 9);
  EXPECT_EQ(loader->steps_per_epoch(), 3);
  for (int64_t step = 1; step <= 7; ++step) {
    for (int rank = 0; rank < 3; ++rank) {
      const Sampler::Share share = sampler.ShareOf(step, 3, rank);
      std::vector<int64_t> labels;
      for (int part = 0; part < 4; ++part) {
        const Contents contents = Get(loader.get(), step, rank, part);
        EXPECT_EQ(contents.numbers[0], share.epoch);
        EXPECT_EQ(contents.numbers[1], share.global_samples);
        EXPECT_EQ(contents.numbers[2], static_cast<int64_t>(share.indices.size()));
        EXPECT_EQ(contents.numbers[3], static_cast<int64_t>(contents.labels.size()));
        labels.insert(labels.end(), contents.labels.begin(), contents.labels.end());
      }
      EXPECT_EQ(labels, std::vector<int64_t>(share.indices.begin(), share.indices.end()));
    }
  }
}

TEST(BatchLoaderTest, WhatIsLoadedAheadIsBounded) {
  const IndexDataset data(1000);
  BatchLoader::Config config;
  config.ranks = {0};
  config.threads = 3;
  const auto loader = Make(config, &data);
  EXPECT_EQ(data.fetched, 0) << "nobody has said yet where to start";
  for (int64_t step = 1; step <= 20; ++step) {
    const auto loaded = loader->Get(step, 0, 0);
    ASSERT_TRUE(loaded.ok());
    const int64_t label = loaded->batch.labels[0];
    // Waits until all buffers are full; the one that is lent stays as it is.
    while (data.fetched < step + 4) std::this_thread::yield();
    EXPECT_EQ(data.fetched, step + 4);
    EXPECT_EQ(loaded->batch.labels[0], label);
    EXPECT_EQ(loaded->batch.images[0], static_cast<float>(label));
  }
}

TEST(BatchLoaderTest, AnErrorSurfacesWhereItBelongsAndCanBeTriedAgain) {
  for (int threads : {0, 1, 3}) {
    IndexDataset data(12);
    BatchLoader::Config config;
    config.global_batch_size = 2;
    config.ranks = {0};
    config.threads = threads;
    const auto loader = Make(config, &data);
    Sampler sampler = *Sampler::Create(12, 2, 1);
    data.failing = sampler.ShareOf(4, 1, 0).indices[1];
    for (int64_t step = 1; step <= 3; ++step) EXPECT_TRUE(loader->Get(step, 0, 0).ok());
    EXPECT_EQ(loader->Get(4, 0, 0).status(), absl::InvalidArgumentError("image 7 is damaged"));
    EXPECT_EQ(loader->Get(4, 0, 0).status(), absl::InvalidArgumentError("image 7 is damaged"));
    data.failing = -1;
    EXPECT_TRUE(loader->Get(4, 0, 0).ok());
    EXPECT_TRUE(loader->Get(5, 0, 0).ok());
  }
}

TEST(BatchLoaderTest, TokensAreLoadedToo) {
  const auto data = *MakeSynthetic(SampleShape::Language(5, 9), 10, 1, Split::kTraining);
  BatchLoader::Config config;
  config.global_batch_size = 4;
  config.ranks = {0};
  config.threads = 2;
  const auto loader = Make(config, data.get());
  const auto loaded = loader->Get(1, 0, 0);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->batch.labels_per_sample, 5);
  EXPECT_EQ(loaded->batch.size(), 4);
}

TEST(BatchLoaderTest, RefusesWhatIsEmpty) {
  const IndexDataset data(3);
  const auto refuse = [&](int64_t batch, int accumulate, int threads, const std::string& message) {
    BatchLoader::Config config;
    config.ranks = {0};
    config.global_batch_size = batch;
    config.accumulate = accumulate;
    config.threads = threads;
    ExpectRefused(BatchLoader::Create(config, &data).status(), absl::StatusCode::kInvalidArgument,
                  {message});
  };
  refuse(0, 1, 0, "global batch of 0");
  refuse(1, 0, 0, "--accumulate=0: must be at least 1");
  refuse(1, 1, -1, "--data_threads=-1: must be at least 0");
  const IndexDataset empty(0);
  BatchLoader::Config config;
  config.ranks = {0};
  ExpectRefused(BatchLoader::Create(config, &empty).status(), absl::StatusCode::kInvalidArgument,
                {"an epoch of 0 samples"});
}

}  // namespace
}  // namespace ringside
