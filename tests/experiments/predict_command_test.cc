// What a user sees of `ringside predict`, on results that are made up.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/report/text_file.h"
#include "tests/experiments/model/shapes_sweep.h"
#include "tests/testing/process.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Duration kTimeout = absl::Seconds(120);

class PredictCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/predict_command_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::string json;
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(MakeSweep({}), &json).ok());
    ASSERT_TRUE(WriteTextFile(folder_ + "/results.json", json).ok());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  TestProcess::Ended Predict(std::vector<std::string> flags) const {
    TestProcess::Config config;
    config.argv = {RINGSIDE_BINARY, "predict", ".", "--workers=4,64", "--bandwidth=1gbit"};
    config.argv.insert(config.argv.end(), flags.begin(), flags.end());
    config.working_directory = folder_;
    return RunProcess(config, kTimeout);
  }

  std::string Refusal(std::vector<std::string> flags) const {
    const TestProcess::Ended ended = Predict(flags);
    EXPECT_EQ(ended.status, 2) << ended.output;
    return ended.output;
  }

  std::string folder_;
};

TEST_F(PredictCommandTest, PrintsStepsAndWhatFailuresMakeOfThem) {
  TestProcess::Ended ended = Predict({});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("Cost model, fitted to 12 measured settings"),
                                  HasSubstr("workers  strategy"), Not(HasSubstr("failures"))));
  ended = Predict({"--mtbf=1000h", "--checkpoint_cost=2s", "--restart_cost=3m", "--ps_shards=8"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("Under failures, with checkpoints:"),
                    HasSubstr("      64  ring                  64    15.6 h"),
                    HasSubstr("      64  ps, dedicated         72    13.9 h"),
                    HasSubstr("trains again after 3 min"), HasSubstr("for 2 s, as told")));
}

TEST_F(PredictCommandTest, CheckpointStepsAreTaken) {
  const TestProcess::Ended ended =
      Predict({"--mtbf=1000h", "--checkpoint_cost=2s", "--checkpoint_steps=1234"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("    1,234 steps"), HasSubstr("after 1,234 steps.")));
}

TEST_F(PredictCommandTest, NumbersOfTheFiguresLieInOut) {
  Predict({"--mtbf=1000h", "--checkpoint_cost=2s", "--out=out"});  // gnuplot may be missing
  for (const char* name : {"predicted_step", "predicted_efficiency", "predicted_goodput"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_ + "/out/figures/" + name + ".csv")) << name;
  }
}

TEST_F(PredictCommandTest, SaysWhatIsWrongWithFailures) {
  EXPECT_THAT(Refusal({"--mtbf=1000"}),
              HasSubstr("--mtbf=1000: must be a duration, such as 5000h"));
  EXPECT_THAT(Refusal({"--mtbf=inf"}), HasSubstr("--mtbf=inf: must be a duration"));
  EXPECT_THAT(Refusal({"--mtbf=0"}), HasSubstr("--mtbf=0: must be positive, such as 5000h"));
  EXPECT_THAT(Refusal({"--mtbf=1000h", "--restart_cost=-1s"}),
              HasSubstr("--restart_cost=-1s: must be a duration, such as 1m"));
  EXPECT_THAT(Refusal({"--mtbf=1000h", "--checkpoint_cost=slow"}),
              HasSubstr("--checkpoint_cost=slow: must be a duration, such as 2s"));
  EXPECT_THAT(Refusal({"--mtbf=1000h", "--checkpoint_cost=2s", "--checkpoint_steps=-1"}),
              HasSubstr("--checkpoint_steps=-1: must be positive, or 0 for as many as cost least"));
  EXPECT_THAT(Refusal({"--mtbf=1000h"}),
              HasSubstr("no run here wrote one; give it by --checkpoint_cost"));
  for (const char* flag : {"--restart_cost=3m", "--checkpoint_cost=2s", "--checkpoint_steps=10"}) {
    EXPECT_THAT(Refusal({flag}), HasSubstr("needs --mtbf with it, such as --mtbf=5000h"));
  }
}

}  // namespace
}  // namespace ringside
