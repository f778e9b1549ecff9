#include "experiments/experiment_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

std::string ErrorOf(const ExperimentConfig& config) {
  return std::string(config.Validate().message());
}

TEST(ExperimentConfigTest, DefaultIsValid) { EXPECT_TRUE(ExperimentConfig().Validate().ok()); }

TEST(ExperimentConfigTest, NamesTheValueAndWhatIsAllowed) {
  ExperimentConfig config;
  config.strategies = {"ps", "rign"};
  EXPECT_EQ(ErrorOf(config),
            "--strategies=ps,rign: \"rign\" must be one of ps, ring, local, data_parallel, nccl");
  config = {};
  config.strategies = {"ps", "ps"};
  EXPECT_EQ(ErrorOf(config), "--strategies=ps,ps: ps is there twice; each once");
  config = {};
  config.strategies = {};
  EXPECT_EQ(ErrorOf(config), "--strategies=: must name at least one");
  config = {};
  config.worker_counts = {1, 0};
  EXPECT_EQ(ErrorOf(config), "--workers=1,0: each must be at least 1");
  config = {};
  config.worker_counts = {2, 4, 2};
  EXPECT_EQ(ErrorOf(config), "--workers=2,4,2: 2 is there twice; each once");
  config = {};
  config.trials = 0;
  EXPECT_EQ(ErrorOf(config), "--trials=0: must be at least 1");
  config = {};
  config.scaling = "sideways";
  EXPECT_EQ(ErrorOf(config), "--scaling=sideways: must be strong or weak");
  config = {};
  config.global_batch = -1;
  EXPECT_EQ(ErrorOf(config),
            "--global_batch=-1: must be at least 1, or 0 for --batch_size x workers");
  config = {};
  config.scaling = "weak";
  config.global_batch = 64;
  EXPECT_EQ(ErrorOf(config),
            "--global_batch=64: fixed by --scaling=strong alone; weak scaling takes --batch_size");
}

TEST(ExperimentConfigTest, StrongScalingDividesTheGlobalBatch) {
  ExperimentConfig config;
  config.worker_counts = {1, 2, 4};
  EXPECT_EQ(*config.BatchSize(32, 1), 128);
  EXPECT_EQ(*config.BatchSize(32, 2), 64);
  EXPECT_EQ(*config.BatchSize(32, 4), 32);
  config.global_batch = 100;
  EXPECT_EQ(*config.BatchSize(32, 2), 50);
}

TEST(ExperimentConfigTest, WeakScalingKeepsTheBatchOfARank) {
  ExperimentConfig config;
  config.scaling = "weak";
  config.worker_counts = {1, 3};
  EXPECT_EQ(*config.BatchSize(32, 1), 32);
  EXPECT_EQ(*config.BatchSize(32, 3), 32);
}

TEST(ExperimentConfigTest, UnevenDivisionNamesWhatWouldDo) {
  ExperimentConfig config;
  config.worker_counts = {1, 2, 3};
  config.global_batch = 100;
  EXPECT_EQ(config.BatchSize(32, 3).status().message(),
            "--workers=1,2,3: the global batch of 100 cannot be divided evenly over 3 workers; it "
            "can over 1, 2, 4, 5, 10, "
            "20, 25, 50; --global_batch=96 or 102 would do");
  config.worker_counts = {3, 4};
  config.global_batch = 0;
  EXPECT_EQ(config.BatchSize(1, 3).status().message(),
            "--workers=3,4: the global batch of 4 (--batch_size=1 x the most workers) cannot be "
            "divided evenly over 3 "
            "workers; it can over 1, 2, 4; --global_batch=12 would do");
}

}  // namespace
}  // namespace ringside
