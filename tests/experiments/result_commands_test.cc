// What a user sees of the commands that read results: `ringside diff` and `ringside report`.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/report/comparison.h"
#include "experiments/report/report_writer.h"
#include "experiments/report/text_file.h"
#include "tests/experiments/report/sample_runs.h"
#include "tests/testing/process.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(120);

class ResultCommandsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/result_commands_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  TestProcess::Ended Ringside(std::vector<std::string> arguments) const {
    TestProcess::Config config;
    config.argv = {RINGSIDE_BINARY};
    config.argv.insert(config.argv.end(), arguments.begin(), arguments.end());
    config.working_directory = folder_;
    return RunProcess(config, kTimeout);
  }

  static RunResult RunOf(double step_s, int64_t trial) {
    SampleRun sample;
    sample.step_s = step_s * (1 + 0.001 * static_cast<double>(trial));
    sample.trial = trial;
    return MakeRun(sample);
  }

  // As `ringside compare` leaves it, of a ring's five trials.
  void WriteResult(const std::string& name, double step_s, const std::string& commit = "") const {
    std::vector<RunResult> runs;
    for (int64_t trial = 0; trial < 5; ++trial) {
      runs.push_back(RunOf(step_s, trial));
      if (!commit.empty()) runs.back().mutable_provenance()->set_build_commit(commit);
    }
    WriteJson(name, BuildComparison(runs, {"ringside", "compare"}, SampleProvenance()));
  }

  void WriteJson(const std::string& name, const google::protobuf::Message& message) const {
    std::string json;
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(message, &json).ok());
    std::filesystem::create_directories(folder_ + "/" + name);
    ASSERT_TRUE(WriteTextFile(folder_ + "/" + name + "/results.json", json).ok());
  }

  std::string folder_;
};

TEST_F(ResultCommandsTest, ADiffTellsARegressionByItsStatus) {
  WriteResult("before", 0.010);
  WriteResult("same", 0.0101);
  WriteResult("after", 0.012);
  TestProcess::Ended ended = Ringside({"diff", "before", "same/results.json"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("nothing is significantly slower in B than in A"));
  ended = Ringside({"diff", "before", "after"});
  EXPECT_EQ(ended.status, 1) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("A: before\nB: after\n"), HasSubstr("ring, 2 workers"),
                                  HasSubstr("1.200"), HasSubstr("slower\n")));
  EXPECT_EQ(Ringside({"diff", "after", "before"}).status, 0);
  EXPECT_EQ(Ringside({"diff", "before", "after", "--tolerance=0.3"}).status, 0);
}

TEST_F(ResultCommandsTest, ADiffOfWhatIsNoResultOrHasNothingInCommonIsBadInput) {
  WriteResult("before", 0.010);
  SampleRun server;
  server.strategy = "ps";
  WriteJson("ps", MakeRun(server));
  TestProcess::Ended ended = Ringside({"diff", "before", "ps"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, HasSubstr("before and ps have no cell in common"));
  std::filesystem::create_directories(folder_ + "/broken");
  ASSERT_TRUE(WriteTextFile(folder_ + "/broken/results.json", "{\"what\":1}").ok());
  ended = Ringside({"diff", "before", "broken"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, HasSubstr("broken/results.json is not the results of a comparison"));
}

TEST_F(ResultCommandsTest, AReportOfSeveralFoldersCountsEachRunOnce) {
  WriteResult("before", 0.010);
  WriteJson("again", RunOf(0.010, 2));
  SampleRun other;
  other.trial = 7;
  WriteJson("more", MakeRun(other));
  const TestProcess::Ended ended = Ringside({"report", "before", "again", "more", "--out=merged"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("Runs that were given twice count once: (ring, 2 workers, "
                                      "trial 2) of before again in again."));
  const auto merged = ReadComparison(folder_ + "/merged/results.json");
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->runs_size(), 6);
}

TEST_F(ResultCommandsTest, AReportOfOtherBuildsIsRefusedUnlessAllowed) {
  WriteResult("before", 0.010);
  WriteResult("after", 0.011, "fffffff");
  TestProcess::Ended ended = Ringside({"report", "before", "after", "--out=merged"});
  EXPECT_EQ(ended.status, 2) << ended.output;
  EXPECT_THAT(ended.output,
              HasSubstr("after is of another build or machine than before: build commit is "
                        "\"1f0c2d9\" in before and \"fffffff\" in after"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/merged"));
  ended = Ringside({"report", "before", "after", "--out=merged", "--allow_unequal"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("warning: Unequal runs: differences are allowed"));
}

}  // namespace
}  // namespace ringside
