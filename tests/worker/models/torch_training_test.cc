#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/bucket_plan.h"
#include "common/sha256.h"
#include "tests/worker/models/model_bench.h"
#include "worker/data/mnist_dataset.h"
#include "worker/models/model_factory.h"
#include "worker/synchronizers/local_summer.h"
#include "worker/synchronizers/synchronous_update.h"
#include "worker/trainer.h"

namespace ringside {
namespace {

// A bar whose row tells the label.
std::unique_ptr<const Dataset> BarImages(int64_t extent, int64_t samples) {
  std::vector<uint8_t> pixels(samples * extent * extent, 0);
  std::vector<uint8_t> labels;
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t label = i % 3;
    labels.push_back(static_cast<uint8_t>(label));
    for (int64_t k = 1 + i % 2; k < extent; ++k) {
      pixels[(i * extent + extent / 4 * (label + 1)) * extent + k] = 255;
    }
  }
  return *MakeMnist("bars", extent, extent, std::move(pixels), std::move(labels));
}

struct Outcome {
  double first_loss = 0;
  double last_loss = 0;
  std::string hash;
};

Outcome Train(const ModelConfig& config, int world_size) {
  const auto dataset = BarImages(config.sample.rows, 23);
  const std::unique_ptr<Model> model = *CreateModel(config);
  const BucketPlan plan = *BucketPlan::Create(model->Parameters(), 100, 400);
  Trainer::Config trainer_config;
  trainer_config.player.world_size = world_size;
  for (int rank = 0; rank < world_size; ++rank) trainer_config.hosted_ranks.push_back(rank);
  trainer_config.player.global_batch_size = 6;
  trainer_config.epochs = 8;
  trainer_config.player.clock = [] { return absl::ZeroDuration(); };
  auto trainer = *Trainer::Create(trainer_config, dataset.get(), &plan, {model.get()});
  OptimizerConfig sgd;
  sgd.momentum = 0.5;
  auto synchronizer = *SynchronousUpdate::Create(
      {plan, trainer_config.hosted_ranks, sgd, *LocalSummer::Create({world_size, plan})});
  Outcome outcome;
  EXPECT_TRUE(trainer->Start(synchronizer.get()).ok());
  const absl::Status ran = trainer->Run([&](const StepRecord& record) {
    if (record.step() == 1) outcome.first_loss = record.loss();
    outcome.last_loss = record.loss();
    return absl::OkStatus();
  });
  EXPECT_TRUE(ran.ok()) << ran;
  outcome.hash = Sha256Hex(trainer->parameters());
  return outcome;
}

TEST(TorchTrainingTest, TheLossFallsAndRunsRepeatBitForBit) {
  for (const ModelConfig& config :
       {Configured("mlp", "hidden=6", SampleShape::Image(1, 8, 8, 3)), TinyLenet()}) {
    for (int world_size : {1, 4}) {
      const Outcome one = Train(config, world_size);
      const Outcome two = Train(config, world_size);
      EXPECT_LT(one.last_loss, 0.5 * one.first_loss) << config.name << " " << world_size;
      EXPECT_EQ(one.hash, two.hash) << config.name << " " << world_size;
    }
  }
}

}  // namespace
}  // namespace ringside
