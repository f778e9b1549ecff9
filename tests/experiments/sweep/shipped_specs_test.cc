// Every spec that comes with the program can be read, planned and validated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "experiments/report/text_file.h"
#include "experiments/sweep/hold_outs.h"
#include "experiments/sweep/sweep_plan.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string PathOf(const std::string& name) {
  return absl::StrCat(RINGSIDE_SPECS, "/", name, ".textproto");
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(RINGSIDE_SPECS)) {
    if (entry.path().extension() == ".textproto") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<SweepPlan> Plan(const std::string& name) {
  const auto text = ReadTextFile(PathOf(name));
  if (!text.ok()) return text.status();
  const auto source = ParseSpec(name, *text);
  if (!source.ok()) return source.status();
  return PlanSweep(*source, "out", {});
}

TEST(ShippedSpecsTest, AreThese) {
  EXPECT_THAT(Names(), ElementsAre("bandwidth", "bucket_size", "latency", "modes", "shards",
                                   "straggler", "wire_dtype", "workers_strong", "workers_weak"));
}

class ShippedSpecTest : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, ShippedSpecTest, ::testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

TEST_P(ShippedSpecTest, IsPlanned) {
  const auto plan = Plan(GetParam());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->question, ::testing::EndsWith("?"));
  EXPECT_LT(plan->job_time_limit, absl::InfiniteDuration());
  std::set<std::string> folders;
  for (const SweepJob& job : plan->jobs) EXPECT_TRUE(folders.insert(job.folder).second);
  // Fewer trials than these are too few for an interval; local needs none.
  std::map<std::string, int> trials;
  for (const SweepJob& job : plan->jobs)
    ++trials[absl::StrCat(job.label, " ", job.job.workers, " ", job.points.front())];
  for (const auto& [who, count] : trials) {
    if (absl::StartsWith(who, "local")) continue;
    EXPECT_EQ(count, 5) << who;
  }
}

TEST_P(ShippedSpecTest, TellsHowManyJobsThereAre) {
  const auto plan = Plan(GetParam());
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto text = ReadTextFile(PathOf(GetParam()));
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr(absl::StrCat(plan->jobs.size(), " jobs, about ")));
  EXPECT_THAT(*text, HasSubstr(absl::StrCat("ringside sweep experiments/specs/", GetParam(),
                                            ".textproto --out=")));
}

TEST(ShippedSpecsTest, TheForecastOfBandwidthHasPointsToFitAndPointsToForetell) {
  const auto plan = Plan("bandwidth");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->has_forecast);
  std::set<std::string> fitted;
  std::set<std::string> held_out;
  std::set<int> fitted_workers;
  for (const SweepJob& job : plan->jobs) {
    if (job.job.strategy == "local") continue;
    const std::string& network = job.point.at("network");
    if (IsHeldOut(plan->forecast, job.point, job.job.workers)) {
      held_out.insert(network);
    } else {
      fitted.insert(network);
      fitted_workers.insert(job.job.workers);
    }
  }
  EXPECT_GE(fitted.size(), 2u);
  EXPECT_GE(fitted_workers.size(), 2u);
  EXPECT_GE(held_out.size(), 3u);
}

}  // namespace
}  // namespace ringside
