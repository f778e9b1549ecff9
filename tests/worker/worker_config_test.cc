#include "worker/worker_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::HasSubstr;

JobConfig Job(const std::string& strategy, int workers = 1) {
  JobConfig job;
  job.strategy = strategy;
  job.workers = workers;
  job.steps = 1;
  return job;
}

ProcessConfig ByFlags(int rank, int world_size, const std::string& coordinator) {
  ProcessConfig process;
  process.rank = rank;
  process.world_size = world_size;
  process.coordinator = coordinator;
  return process;
}

const Environment kTorchrun = {{"RANK", "1"},         {"WORLD_SIZE", "3"},
                               {"LOCAL_RANK", "1"},   {"LOCAL_WORLD_SIZE", "3"},
                               {"MASTER_ADDR", "n0"}, {"MASTER_PORT", "29500"},
                               {"GROUP_RANK", "0"},   {"TORCHELASTIC_RUN_ID", "x"}};

std::string Refusal(const JobConfig& job, const ProcessConfig& process,
                    const Environment& environment) {
  const auto config = MakeWorkerConfig(job, process, environment, {"worker"});
  EXPECT_FALSE(config.ok());
  return std::string(config.status().message());
}

TEST(WorkerConfigTest, TheRateIsToldInOneLine) {
  JobConfig job = Job("ring", 4);
  job.optimizer.learning_rate = 0.05;
  EXPECT_EQ(DescribeRate(job), "learning rate 0.05, batch 32 a rank, 128 in all");
  job.lr_scaling = "linear";
  EXPECT_EQ(DescribeRate(job),
            "learning rate 0.2 (0.05, linear in 4 batches a step), batch 32 a rank, 128 in all");
  job.lr_scaling = "sqrt";
  EXPECT_EQ(
      DescribeRate(job),
      "learning rate 0.1 (0.05, with the square root of 4 batches a step), batch 32 a rank, 128 in "
      "all");
}

TEST(WorkerConfigTest, FlagsSayWhoThisIs) {
  const auto config =
      MakeWorkerConfig(Job("ring", 3), ByFlags(2, 3, "[::1]:4000"), {}, {"worker", "--rank=2"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->rank, 2);
  EXPECT_EQ(config->job.workers, 3);
  EXPECT_EQ(config->coordinator->host, "::1");
  EXPECT_FALSE(config->host_coordinator);
  EXPECT_EQ(config->hosted_ranks(), std::vector<int>{2});
}

TEST(WorkerConfigTest, OnlyWorkerZeroHostsTheCoordinator) {
  for (int rank : {0, 1}) {
    ProcessConfig process = ByFlags(rank, 2, "n0:4000");
    process.host_coordinator = true;
    const auto config = MakeWorkerConfig(Job("ps", 2), process, {}, {});
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->host_coordinator, rank == 0);
  }
}

TEST(WorkerConfigTest, TheLaunchersEnvironmentSaysTheRest) {
  const auto config = MakeWorkerConfig(Job("ring"), {}, kTorchrun, {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->rank, 1);
  EXPECT_EQ(config->local_rank.value(), 1);
  EXPECT_EQ(config->job.workers, 3);
  EXPECT_EQ(config->coordinator->host, "n0");
}

TEST(WorkerConfigTest, LocalNeedsNobody) {
  const auto config = MakeWorkerConfig(Job("local", 3), {}, {}, {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->coordinator.has_value());
  EXPECT_EQ(config->hosted_ranks(), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(MakeWorkerConfig(Job("local", 1), {}, {}, {})->hosted_ranks(), std::vector<int>{0});
}

TEST(WorkerConfigTest, LocalJoinsACoordinatorThatItIsGiven) {
  const auto config =
      MakeWorkerConfig(Job("local", 3), ByFlags(0, 3, "localhost:9"), kTorchrun, {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->coordinator->port, 9);
  EXPECT_EQ(config->job.workers, 3);
}

TEST(WorkerConfigTest, LocalIsOneProcess) {
  EXPECT_THAT(Refusal(Job("local", 2), ByFlags(1, 2, ""), {}), HasSubstr("--rank=1: must be 0"));
  EXPECT_THAT(Refusal(Job("local", 2), {}, kTorchrun), HasSubstr("torchrun started 3 processes"));
}

TEST(WorkerConfigTest, BadInputIsNamed) {
  EXPECT_THAT(Refusal(Job("gossip"), {}, {}), HasSubstr("--strategy=gossip"));
  EXPECT_THAT(Refusal(Job("ring", 2), ByFlags(0, 2, ""), {}),
              HasSubstr("--coordinator is missing"));
  EXPECT_THAT(Refusal(Job("ring", 2), ByFlags(0, 2, "n0:0"), {}), HasSubstr("--coordinator=n0:0"));
  EXPECT_THAT(Refusal(Job("ring", 2), ByFlags(0, 2, "n0"), {}), HasSubstr("n0"));
  EXPECT_THAT(Refusal(Job("ring"), {}, {}), HasSubstr("which rank this process is"));
  JobConfig negative = Job("ring");
  negative.batch_size = 0;
  EXPECT_THAT(Refusal(negative, {}, {}), HasSubstr("--batch_size=0"));
}

TEST(WorkerConfigTest, TheTokenIsNotKeptInTheCommand) {
  const auto config =
      MakeWorkerConfig(Job("local"), {}, {},
                       {"worker", "--token=secret", "--token", "secret", "-token=secret", "x"});
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->command, (std::vector<std::string>{"worker", "--token=...", "--token", "...",
                                                       "--token=...", "x"}));
}

}  // namespace
}  // namespace ringside
