#include "experiments/report/merge_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

RunResult RunOf(const std::string& strategy, int64_t trial) {
  SampleRun sample;
  sample.strategy = strategy;
  sample.trial = trial;
  return MakeRun(sample);
}

NamedResult Part(const std::string& name, const std::vector<RunResult>& runs,
                 const SweepFacts& facts = {}) {
  return {name, BuildComparison(runs, {"ringside", name}, SampleProvenance(), facts)};
}

TEST(MergeResultsTest, RunsOfAllParts) {
  const auto merged = MergeResults({Part("a", {RunOf("ring", 0), RunOf("ring", 1)}),
                                    Part("b", {RunOf("ps", 0), RunOf("ps", 1)})},
                                   {"ringside", "report", "a", "b"}, Inequality::kRefused);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->runs_size(), 4);
  EXPECT_EQ(merged->contrasts_size(), 1);
  EXPECT_THAT(merged->command(), ElementsAre("ringside", "report", "a", "b"));
  EXPECT_TRUE(AllGatesPassed(*merged));
}

TEST(MergeResultsTest, ARunThatIsThereTwiceCountsOnce) {
  const NamedResult part = Part("a", {RunOf("ring", 0), RunOf("ring", 1)});
  const auto merged = MergeResults({part, Part("a/runs/ring-w2-t1", {RunOf("ring", 1)}), part}, {},
                                   Inequality::kRefused);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->runs_size(), 2);
  EXPECT_THAT(
      merged->warnings(),
      Contains(AllOf(StartsWith("Runs that were given twice count once: "),
                     HasSubstr("(ring, 2 workers, trial 1) of a again in a/runs/ring-w2-t1"))));
  RunResult launched = RunOf("ring", 1);
  launched.add_command("ringside");
  launched.mutable_network()->set_bandwidth_mbit(100);
  launched.mutable_ceilings()->set_cores(2);
  EXPECT_EQ(MergeResults({part, Part("b", {launched})}, {}, Inequality::kRefused)->runs_size(), 2);
  // A run of the same trial that came out otherwise is another one.
  RunResult other = RunOf("ring", 1);
  other.mutable_worker_results(0)->mutable_steps(3)->set_step_s(0.5);
  const auto both = MergeResults({part, Part("b", {other})}, {}, Inequality::kRefused);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->runs_size(), 3);
  EXPECT_THAT(both->warnings(), Not(Contains(HasSubstr("given twice"))));
}

TEST(MergeResultsTest, OtherBuildsAndMachinesAreRefusedByName) {
  RunResult other = RunOf("ring", 2);
  other.mutable_provenance()->set_build_commit("fffffff");
  other.mutable_provenance()->set_kernel("Linux 9");
  const std::vector<NamedResult> parts = {Part("a", {RunOf("ring", 0)}), Part("b", {other})};
  const auto refused = MergeResults(parts, {}, Inequality::kRefused);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.status().message(),
            "b is of another build or machine than a: build commit is \"1f0c2d9\" in a and "
            "\"fffffff\" in b; kernel is \"Linux 6.1.0-18-amd64\" in a and \"Linux 9\" in b; "
            "--allow_unequal merges them nevertheless");
  const auto allowed = MergeResults(parts, {}, Inequality::kAllowed);
  ASSERT_TRUE(allowed.ok()) << allowed.status();
  EXPECT_EQ(allowed->cells_size(), 2);  // of two builds, which no cell mixes
  EXPECT_THAT(allowed->warnings(), Contains(AllOf(StartsWith("Unequal runs: "),
                                                  HasSubstr("build commit"), HasSubstr("kernel"))));
}

TEST(MergeResultsTest, SettingsThatDifferAreForTheGate) {
  RunResult other = RunOf("ring", 1);
  (*other.mutable_settings())["seed"] = "2";
  const auto merged =
      MergeResults({Part("a", {RunOf("ring", 0)}), Part("b", {other})}, {}, Inequality::kRefused);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_FALSE(AllGatesPassed(*merged));
}

TEST(MergeResultsTest, FactsOfSweepsAreJoined) {
  RunResult slow = RunOf("ring", 0);
  (*slow.mutable_settings())["network"] = "1gbit";
  RunResult fast = RunOf("ring", 0);
  (*fast.mutable_settings())["network"] = "2gbit";
  const auto merged =
      MergeResults({Part("a", {slow}, {"How fast?", {"network"}, {"first"}}),
                    Part("b", {fast}, {"How fast?", {"network", "seed"}, {"second"}})},
                   {}, Inequality::kRefused);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->question(), "How fast?");
  EXPECT_THAT(merged->varied(), ElementsAre("network", "seed"));
  EXPECT_THAT(merged->sweep_warnings(), ElementsAre("first", "second"));
  EXPECT_EQ(merged->cells_size(), 2);
}

}  // namespace
}  // namespace ringside
