#include "experiments/sweep/sweep_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr char kSpec[] = R"(question: "Which?"
flags: "steps=5"
strategy { name: "ring" }
strategy { name: "ps" flags: "ps_shards=2" }
workers: 2
trials: 2
)";

absl::StatusOr<SweepPlan> Plan(const std::string& text,
                               const std::vector<JobSetting>& overrides = {}) {
  const auto source = ParseSpec("a.textproto", text);
  if (!source.ok()) return source.status();
  return PlanSweep(*source, "out", overrides);
}

std::string Error(const std::string& text) {
  const auto plan = Plan(text);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << plan.status();
  return std::string(plan.status().message());
}

std::vector<std::string> Titles(const SweepPlan& plan) {
  std::vector<std::string> titles;
  for (const SweepJob& job : plan.jobs) titles.push_back(job.title);
  return titles;
}

TEST(SweepPlanTest, StrategiesGoForwardAndBackwardInTurn) {
  const auto plan = Plan(kSpec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(Titles(*plan), ElementsAre("ring, 2 workers, trial 1", "ps, 2 workers, trial 1",
                                         "ps, 2 workers, trial 2", "ring, 2 workers, trial 2"));
  const SweepJob& ps = plan->jobs[1];
  EXPECT_EQ(ps.folder, "ps-w2-t1");
  EXPECT_EQ(ps.job.out, "out/runs/ps-w2-t1");
  EXPECT_EQ(ps.job.ps_shards, 2);
  EXPECT_EQ(ps.job.steps, 5);
  EXPECT_EQ(ps.job.trial, 1);
  EXPECT_EQ(plan->question, "Which?");
  EXPECT_THAT(plan->varied, IsEmpty());
  EXPECT_FALSE(plan->has_forecast);
}

TEST(SweepPlanTest, CrossesWhatVariesAndTheLastChangesFastest) {
  const auto plan = Plan(
      "question: \"Which?\" flags: \"steps=5\" strategy { name: \"ring\" } workers: [1, 2] "
      "trials: 1 vary { setting: \"wire_dtype\" values: [\"fp32\", \"bf16\"] } "
      "vary { setting: \"bucket_bytes\" values: [\"64\", \"128\"] }");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->varied, ElementsAre("wire_dtype", "bucket_bytes"));
  ASSERT_EQ(plan->jobs.size(), 8u);
  EXPECT_EQ(plan->jobs[0].title, "ring, 1 worker, bucket_bytes=64, wire_dtype=fp32, trial 1");
  EXPECT_EQ(plan->jobs[2].title, "ring, 1 worker, bucket_bytes=128, wire_dtype=fp32, trial 1");
  EXPECT_EQ(plan->jobs[2].folder, "ring-w1-p02-t1");
  EXPECT_EQ(plan->jobs[5].folder, "ring-w2-p03-t1");
  EXPECT_EQ(plan->jobs[5].job.wire_dtype, "bf16");
  EXPECT_EQ(plan->jobs[5].job.bucket_bytes, 64);
  EXPECT_EQ(plan->points.size(), 4u);
}

TEST(SweepPlanTest, WhoTakesNoNoticeOfASettingRunsOnceForAllItsValues) {
  const auto plan = Plan(
      "question: \"Which?\" flags: \"steps=5\" strategy { name: \"ring\" } strategy { name: \"ps\" "
      "} "
      "workers: 2 trials: 1 vary { setting: \"ps_shards\" values: [\"1\", \"2\"] } "
      "vary { setting: \"bucket_bytes\" values: [\"64\", \"128\"] }");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(Titles(*plan), ElementsAre("ring, 2 workers, bucket_bytes=64, trial 1",
                                         "ps, 2 workers, bucket_bytes=64, ps_shards=1, trial 1",
                                         "ring, 2 workers, bucket_bytes=128, trial 1",
                                         "ps, 2 workers, bucket_bytes=128, ps_shards=1, trial 1",
                                         "ps, 2 workers, bucket_bytes=64, ps_shards=2, trial 1",
                                         "ps, 2 workers, bucket_bytes=128, ps_shards=2, trial 1"));
  EXPECT_THAT(plan->jobs[0].points, ElementsAre(0, 2));
  EXPECT_THAT(plan->jobs[1].points, ElementsAre(0));
  EXPECT_THAT(plan->jobs[2].points, ElementsAre(1, 3));
}

TEST(SweepPlanTest, StrongScalingDividesTheGlobalBatch) {
  const std::string common =
      "question: \"Which?\" flags: [\"steps=5\", \"batch_size=8\"] strategy { name: \"ring\" } "
      "workers: [1, 4] trials: 1 ";
  const auto strong = Plan(common);
  ASSERT_TRUE(strong.ok()) << strong.status();
  EXPECT_EQ(strong->jobs[0].job.batch_size, 32);
  EXPECT_EQ(strong->jobs[1].job.batch_size, 8);
  const auto fixed = Plan(common + "global_batch: 64");
  ASSERT_TRUE(fixed.ok()) << fixed.status();
  EXPECT_EQ(fixed->jobs[1].job.batch_size, 16);
  const auto weak = Plan(common + "scaling: WEAK");
  ASSERT_TRUE(weak.ok()) << weak.status();
  EXPECT_EQ(weak->jobs[0].job.batch_size, 8);
  EXPECT_THAT(Error(common + "global_batch: 7"), HasSubstr("a.textproto:1: global_batch: "));
  EXPECT_THAT(Error(common + "global_batch: 64 scaling: WEAK"),
              HasSubstr("global_batch: is fixed by scaling: STRONG alone"));
}

TEST(SweepPlanTest, ContendersOfOneStrategyHaveNamesAndFoldersOfTheirOwn) {
  const auto plan = Plan(
      "question: \"Which?\" flags: \"steps=5\" workers: 2 trials: 2 "
      "strategy { name: \"ps\" } strategy { name: \"ps\" flags: \"ps_shards=2\" } "
      "strategy { name: \"ps\" flags: \"ps_mode=async\" label: \"free\" trials: 1 }");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(Titles(*plan),
              ElementsAre("ps, 2 workers, trial 1", "ps ps_shards=2, 2 workers, trial 1",
                          "free, 2 workers, trial 1", "ps ps_shards=2, 2 workers, trial 2",
                          "ps, 2 workers, trial 2"));
  EXPECT_EQ(plan->jobs[1].folder, "ps-w2-s2-t1");
}

TEST(SweepPlanTest, OverridesGoBeforeTheSpec) {
  const auto plan = Plan(kSpec, {{"data_dir", "elsewhere"}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const SweepJob& job : plan->jobs) EXPECT_EQ(job.job.data_dir, "elsewhere");
}

TEST(SweepPlanTest, WrongFlagsAreNamedWithTheirPlace) {
  EXPECT_EQ(Error(std::string(kSpec) + "flags: \"bukcet_bytes=1\"\n"),
            "a.textproto:7: flags[1]: unknown flag --bukcet_bytes; did you mean --bucket_bytes?");
  EXPECT_EQ(Error(std::string(kSpec) + "flags: \"--seed=1\"\n"),
            "a.textproto:7: flags[1]: \"--seed=1\" must be name=value, without dashes");
  EXPECT_EQ(Error(std::string(kSpec) + "flags: \"steps=6\"\n"),
            "a.textproto:7: flags[1]: the flag steps is there twice");
  EXPECT_EQ(
      Error(std::string(kSpec) + "flags: \"workers=6\"\n"),
      "a.textproto:7: flags[1]: the flag workers has no place here: say it as workers: [...]");
  EXPECT_EQ(Error(std::string(kSpec) + "flags: \"rank=6\"\n"),
            "a.textproto:7: flags[1]: --rank is no flag of a job");
  EXPECT_EQ(Error(std::string(kSpec) + "strategy { name: \"mesh\" }\n"),
            "a.textproto:7: strategy[2].name: \"mesh\" must be one of ps, ring, local, "
            "data_parallel, nccl");
  EXPECT_THAT(Error(std::string(kSpec) + "strategy { name: \"ps\" flags: \"seed=6\" }\n"),
              AllOf(StartsWith("a.textproto:7: strategy[2].flags[0]: strategies may differ in "),
                    HasSubstr("; seed must be shared, or vary")));
}

TEST(SweepPlanTest, WrongJobsAreNamedWithThePlaceOfTheFlag) {
  EXPECT_EQ(Error(std::string(kSpec) + "flags: \"batch_size=0\"\n"),
            "a.textproto:7: flags[1]: ring, 2 workers: --batch_size=0: must be at least 1");
  EXPECT_EQ(
      Error(std::string(kSpec) +
            "vary {\n  setting: \"wire_dtype\"\n  values: \"fp32\"\n  values: \"bf16\"\n}\n"),
      "a.textproto:10: vary[0].values[1]: ps, 2 workers: --wire_dtype=bf16: must be fp32 with "
      "--strategy=ps");
}

TEST(SweepPlanTest, WrongDimensionsAreRefused) {
  const auto vary = [](const std::string& fields) {
    return Error(absl::StrCat(kSpec, "vary { ", fields, " }\n"));
  };
  EXPECT_EQ(vary("setting: \"bucket_bytes\""),
            "a.textproto:7: vary[0]: must have a setting and at least one of values");
  EXPECT_EQ(vary("setting: \"bucket_bytes\" values: [\"64\", \"64\"]"),
            "a.textproto:7: vary[0].values[1]: \"64\" is there twice; each once");
  EXPECT_EQ(vary("setting: \"learning_rate\" values: [\"0.1\", \"1e-1\"]"),
            "a.textproto:7: vary[0].values[1]: \"1e-1\" is the same as \"0.1\"; each once");
  EXPECT_EQ(vary("setting: \"steps\" values: [\"6\", \"7\"]"),
            "a.textproto:2: flags[0]: steps varies, by vary[0]");
  EXPECT_EQ(vary("setting: \"lease\" values: [\"6s\", \"7s\"]"),
            "a.textproto:7: vary[0].setting: --lease cannot vary: results do not record it");
  EXPECT_THAT(vary("setting: \"batch_size\" values: [\"6\", \"7\"]"),
              HasSubstr("strong scaling derives --batch_size"));
  EXPECT_THAT(vary("setting: \"workers\" values: [\"6\", \"7\"]"),
              HasSubstr("say it as workers: [...]"));
  EXPECT_EQ(Error("question: \"Which?\" flags: \"steps=5\" strategy { name: \"local\" } workers: 2 "
                  "vary { setting: \"ring_link\" values: [\"tcp\", \"uds\"] }"),
            "a.textproto:1: vary[0]: no strategy of this sweep takes notice of ring_link");
}

TEST(SweepPlanTest, WhatAReportCouldNotTellApartIsRefused) {
  EXPECT_THAT(Error(std::string(kSpec) +
                    "strategy { name: \"ps\" flags: [\"ps_shards=2\", \"shard_threads=2\"] }\n"),
              HasSubstr("a.textproto:7: strategy[2]: a report could not tell "));
  EXPECT_EQ(Error(std::string(kSpec) + "strategy { name: \"ring\" }\n"),
            "a.textproto:7: strategy[2]: \"ring\" is there already, as strategy[0]");
}

TEST(SweepPlanTest, WrongNumbersAreRefused) {
  EXPECT_EQ(Error("question: \"Which?\" strategy { name: \"ring\" }"),
            "a.textproto: workers: must have at least one number");
  EXPECT_EQ(Error("question: \"Which?\" workers: 1"),
            "a.textproto: strategy: must be there at least once");
  EXPECT_EQ(Error("workers: 1"), "a.textproto: question: must say what the sweep is to answer");
  EXPECT_EQ(Error("question: \"Which?\" workers: 0"),
            "a.textproto:1: workers[0]: 0 must be at least 1");
  EXPECT_EQ(Error("question: \"Which?\" workers: [2, 2]"),
            "a.textproto:1: workers[1]: 2 is there twice; each once");
  EXPECT_EQ(Error("question: \"Which?\" workers: 1 trials: -1"),
            "a.textproto:1: trials: -1 must be at least 1");
  EXPECT_EQ(
      Error("question: \"Which?\" flags: \"steps=5\" workers: 300 strategy { name: \"ring\" }"),
      "a.textproto:1: strategy[0]: ring, 300 workers: --workers=300: a job that is launched on "
      "one machine may have at most 256 processes");
}

// Fails where a job has more than one worker and this many shards.
JobCheck FailsWithShards(int shards) {
  return [shards](const JobConfig& job) {
    return job.shards() == shards && job.workers > 1
               ? absl::UnavailableError("too many shards for a Monday")
               : absl::OkStatus();
  };
}

constexpr char kShards[] =
    "question: \"Which?\" flags: \"steps=5\" strategy { name: \"ring\" } strategy { name: \"ps\" } "
    "workers: [1, 2] trials: 1 vary { setting: \"ps_shards\" values: [\"1\", \"2\"] }";

TEST(SweepPlanTest, PointsThatCannotRunHereAreLeftOutAndSaidSo) {
  auto plan = Plan(kShards);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto never = [](const SweepJob&) { return false; };
  ASSERT_TRUE(LeaveOutWhatCannotRun(FailsWithShards(2), never, &*plan).ok());
  // The ring stands at the point that is left, too.
  EXPECT_THAT(Titles(*plan),
              ElementsAre("ring, 1 worker, trial 1", "ps, 1 worker, ps_shards=1, trial 1",
                          "ring, 2 workers, trial 1", "ps, 2 workers, ps_shards=1, trial 1",
                          "ps, 1 worker, ps_shards=2, trial 1"));
  EXPECT_THAT(plan->warnings,
              ElementsAre("Left out: ps_shards=2 with 2 workers: too many shards for a Monday."));
}

TEST(SweepPlanTest, WhatHasRunIsNotAskedFor) {
  auto plan = Plan(kShards);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto always = [](const SweepJob&) { return true; };
  ASSERT_TRUE(LeaveOutWhatCannotRun(FailsWithShards(2), always, &*plan).ok());
  EXPECT_EQ(plan->jobs.size(), 6u);
  EXPECT_THAT(plan->warnings, IsEmpty());
}

TEST(SweepPlanTest, NothingLeftIsAnError) {
  auto plan = Plan(kSpec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto none = [](const JobConfig&) { return absl::PermissionDeniedError("needs root"); };
  const absl::Status status = LeaveOutWhatCannotRun(
      none, [](const SweepJob&) { return false; }, &*plan);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "no job of this sweep can run here: needs root");
}

}  // namespace
}  // namespace ringside
