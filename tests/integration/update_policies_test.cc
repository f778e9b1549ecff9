// Clipping, LARS, scaled learning rates and gradients that are not finite, with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/integration/job.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

class UpdatePoliciesTest : public JobTest {
 protected:
  UpdatePoliciesTest() { WriteMnistFiles(data_dir(), 50, 20); }

  RunResult RunOnce(const std::string& strategy, int workers,
                    const std::vector<std::string>& more) {
    std::vector<std::string> flags = {"--strategy=" + strategy, absl::StrCat("--workers=", workers),
                                      "--batch_size=12", "--epochs=2", "--warmup_steps=0"};
    flags.insert(flags.end(), more.begin(), more.end());
    return Run(absl::StrCat("run", ++runs_), flags).runs(0);
  }

  // Ends with status 1 within the time that a lost process may take, and leaves no results.
  std::string RunAndFail(const std::string& strategy, const std::vector<std::string>& more) {
    std::vector<std::string> flags = JobFlags(
        {"--strategy=" + strategy, "--workers=3", "--batch_size=12", "--epochs=2", "--lease=5s"});
    flags.insert(flags.begin(), "run");
    flags.insert(flags.end(), more.begin(), more.end());
    flags.push_back(absl::StrCat("--out=", folder(), "/failed", ++runs_));
    const TestProcess::Ended ended = RunProcess(Command("ringside", flags), absl::Minutes(1));
    EXPECT_EQ(ended.status, 1) << ended.output;
    return ended.output;
  }

 private:
  int runs_ = 0;
};

TEST_F(UpdatePoliciesTest, AllStrategiesHaveOneHashWithClippingAndLars) {
  const std::vector<std::string> plain;
  const std::vector<std::string> clipped = {"--clip_norm=0.3", "--momentum=0.9"};
  const std::vector<std::string> lars = {
      "--optimizer=lars", "--lars_trust=0.02", "--momentum=0.9",      "--weight_decay=0.001",
      "--clip_norm=1",    "--lr_scaling=sqrt", "--on_nonfinite=skip", "--learning_rate=1"};
  for (int workers : {2, 4}) {
    std::string before = RunOnce("local", workers, plain).parameters_sha256();
    for (const auto& flags : {clipped, lars}) {
      const std::string local = RunOnce("local", workers, flags).parameters_sha256();
      EXPECT_EQ(local.size(), 64u);
      EXPECT_NE(local, before) << "it had no effect";
      EXPECT_EQ(RunOnce("ring", workers, flags).parameters_sha256(), local);
      std::vector<std::string> on_ps = flags;
      on_ps.push_back("--ps_shards=2");
      EXPECT_EQ(RunOnce("ps", workers, on_ps).parameters_sha256(), local);
      before = local;
    }
  }
}

TEST_F(UpdatePoliciesTest, TheScaledRateIsTheSameOnWorkersAndServersAndIsRecorded) {
  const std::vector<std::string> scaled = {"--learning_rate=0.025", "--lr_scaling=linear"};
  const RunResult local = RunOnce("local", 4, scaled);
  EXPECT_EQ(local.effective_learning_rate(), 0.1);
  EXPECT_EQ(local.settings().at("learning_rate"), "0.025");
  EXPECT_EQ(local.global_batch_size(), 48);
  const std::string hash = RunOnce("local", 4, {"--learning_rate=0.1"}).parameters_sha256();
  EXPECT_EQ(local.parameters_sha256(), hash);
  std::vector<std::string> on_server = scaled;
  on_server.push_back("--update=server");
  EXPECT_EQ(RunOnce("ps", 4, on_server).parameters_sha256(), hash);
}

// A rate that lets every rank's parameters overflow.
TEST_F(UpdatePoliciesTest, ARunThatDivergesStopsAndNamesTheFirstPlace) {
  for (const char* strategy : {"local", "ring", "ps"}) {
    const std::string output = RunAndFail(strategy, {"--learning_rate=1e38"});
    EXPECT_THAT(output, HasSubstr("is not finite"));
    EXPECT_THAT(output, HasSubstr(" in fc"));
    EXPECT_THAT(output, HasSubstr(", element "));
  }
  EXPECT_THAT(RunAndFail("ps", {"--learning_rate=1e38", "--update=server"}),
              HasSubstr("is not finite"));
}

TEST_F(UpdatePoliciesTest, ARunThatDivergesSkipsOnAllRanksAlike) {
  const std::vector<std::string> flags = {"--learning_rate=1e38", "--on_nonfinite=skip",
                                          "--evaluate=false"};
  const RunResult local = RunOnce("local", 3, flags);
  EXPECT_GT(local.skipped_steps(), 0);
  for (const char* strategy : {"ring", "ps"}) {
    const RunResult run = RunOnce(strategy, 3, flags);
    EXPECT_EQ(run.parameters_sha256(), local.parameters_sha256()) << strategy;
    EXPECT_EQ(run.skipped_steps(), local.skipped_steps()) << strategy;
    for (const WorkerResult& worker : run.worker_results()) {
      for (int i = 0; i < worker.steps_size(); ++i) {
        EXPECT_EQ(worker.steps(i).skipped(), local.worker_results(0).steps(i).skipped());
      }
    }
  }
}

TEST_F(UpdatePoliciesTest, WhatNeedsTheWholeGradientIsRefusedWhereShardsUpdate) {
  const auto refusal = [this](const std::vector<std::string>& more) {
    std::vector<std::string> flags = JobFlags({"--strategy=ps", "--steps=2"});
    flags.insert(flags.begin(), "run");
    flags.insert(flags.end(), more.begin(), more.end());
    const TestProcess::Ended ended = RunProcess(Command("ringside", flags), absl::Minutes(1));
    EXPECT_EQ(ended.status, 2) << ended.output;
    return ended.output;
  };
  EXPECT_THAT(refusal({"--update=server", "--clip_norm=1"}),
              HasSubstr("--clip_norm=1: needs the whole gradient, which with --update=server no "
                        "process has; use --update=worker"));
  EXPECT_THAT(refusal({"--ps_mode=async", "--optimizer=lars"}),
              HasSubstr("--optimizer=lars: needs the whole gradient, which with --ps_mode=async"));
}

}  // namespace
}  // namespace ringside
