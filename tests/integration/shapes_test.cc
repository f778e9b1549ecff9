// The workload `shapes` in real jobs, and what TensorBoard gets to see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "absl/strings/str_cat.h"
#include "tests/integration/job.h"
#include "tests/worker/event_file.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

class ShapesTest : public JobTest {
 protected:
  ShapesTest() {
    std::ofstream(shapes()) << "# the middle one fills several buckets\n"
                               "first 100\n"
                               "middle 70 50  # 14000 bytes\n"
                               "last 3 3 3\n";
  }

  std::string shapes() const { return folder() + "/shapes.txt"; }
  std::string events() const { return folder() + "/events/here"; }

  std::vector<std::string> Flags(const std::string& strategy,
                                 const std::vector<std::string>& more) const {
    std::vector<std::string> flags = {
        "--strategy=" + strategy, "--workers=3",       "--batch_size=4",
        "--model=shapes",         "--steps=6",         "--warmup_steps=0",
        "--momentum=0.9",         "--frame_bytes=1024"};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }

  std::string Arguments(const std::string& more) const {
    return absl::StrCat("--model_args=file=", shapes(), ",", more);
  }
};

TEST_F(ShapesTest, PsRingAndLocalHaveOneHash) {
  const auto hash = [&](const std::string& strategy, const std::string& more) {
    const ComparisonResult result = Run(strategy, Flags(strategy, {Arguments("seed=5"), more}));
    EXPECT_EQ(result.runs(0).parameter_elements(), 3627);
    EXPECT_FALSE(result.runs(0).has_evaluation());
    return result.runs(0).parameters_sha256();
  };
  const std::string local = hash("local", "--ps_shards=1");
  EXPECT_EQ(local.size(), 64u);
  EXPECT_EQ(hash("ring", "--ps_shards=1"), local);
  EXPECT_EQ(hash("ps", "--ps_shards=2"), local);
}

TEST_F(ShapesTest, AStepTakesAtLeastTheStatedTime) {
  const ComparisonResult result = Run("ring", Flags("ring", {Arguments("compute_ms=30")}));
  for (const WorkerResult& worker : result.runs(0).worker_results()) {
    ASSERT_EQ(worker.steps_size(), 6);
    for (const StepRecord& step : worker.steps()) {
      EXPECT_GE(step.forward_s(), 0.010);
      EXPECT_GE(step.backward_s(), 0.020);
    }
  }
}

TEST_F(ShapesTest, BadArgumentsAreRefused) {
  for (const auto& [arguments, message] : std::map<std::string, std::string>{
           {"--model_args=compute_ms=1", "needs exactly one of file=PATH and preset=NAME"},
           {"--model_args=file=/nowhere", "--model_args=file=/nowhere: cannot be read"},
           {Arguments("compute_ms=x"), "--model_args=compute_ms=x: must be a number"}}) {
    const auto ended = RunProcess(Command("worker", Flags("local", {arguments})), absl::Minutes(1));
    EXPECT_NE(ended.status, 0);
    EXPECT_THAT(ended.output, HasSubstr(message));
  }
}

TEST_F(ShapesTest, RankZeroWritesEventsAndAtTheEndTheLossOfAllRanks) {
  WriteMnistFiles(data_dir(), 50, 20);
  const ComparisonResult result =
      Run("ring", {"--strategy=ring", "--workers=2", "--batch_size=8", "--steps=5",
                   "--learning_rate=0.05", "--tensorboard_dir=" + events()});
  const RunResult& run = result.runs(0);
  const auto read = ReadEvents(OnlyFile(events()));
  const auto global = Values(read, "loss/global_batch");
  const auto own = Values(read, "loss/rank0_mean");
  ASSERT_EQ(global.size(), 5u);
  ASSERT_EQ(own.size(), 5u);
  for (int i = 0; i < 5; ++i) {
    const StepRecord& zero = run.worker_results(0).steps(i);
    const StepRecord& one = run.worker_results(1).steps(i);
    EXPECT_EQ(global[i].first, i + 1);
    EXPECT_FLOAT_EQ(global[i].second, static_cast<float>(zero.loss() + one.loss()));
    EXPECT_FLOAT_EQ(own[i].second, static_cast<float>(zero.loss()) *
                                       static_cast<float>(zero.global_samples()) /
                                       static_cast<float>(zero.samples()));
  }
  for (const auto& rate : Values(read, "learning_rate")) EXPECT_EQ(rate.second, 0.05f);
  const auto accuracy = Values(read, "test/accuracy");
  ASSERT_EQ(accuracy.size(), 1u);
  EXPECT_EQ(accuracy[0].first, 5);
  EXPECT_FLOAT_EQ(accuracy[0].second, static_cast<float>(run.evaluation().accuracy()));
  EXPECT_EQ(Values(read, "test/mean_loss").size(), 1u);
}

TEST_F(ShapesTest, AKilledProcessLeavesReadableEvents) {
  const auto worker = TestProcess::Start(
      Command("worker", Flags("local", {Arguments("compute_ms=1"), "--steps=1000000",
                                        "--tensorboard_dir=" + events()})));
  const auto steps = [this] {
    if (!std::filesystem::exists(events()) || std::filesystem::is_empty(events())) return size_t{0};
    return Values(ReadEvents(OnlyFile(events())), "time/step_s").size();
  };
  ASSERT_TRUE(AwaitCondition([&] { return steps() > 0; }, absl::Minutes(1))) << worker->output();
  worker->Signal(SIGKILL);
  EXPECT_EQ(worker->Wait(absl::Minutes(1)).status, 128 + SIGKILL);
  const auto read = ReadEvents(OnlyFile(events()));
  EXPECT_EQ(read[0].file_version(), "brain.Event:2");
  const auto values = Values(read, "time/step_s");
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i].first, static_cast<int64_t>(i) + 1);
  }
}

TEST_F(ShapesTest, AFolderThatCannotBeWrittenIsRefused) {
  const auto ended = RunProcess(
      Command("worker", Flags("local", {Arguments("compute_ms=0"), "--tensorboard_dir=/proc/no"})),
      absl::Minutes(1));
  EXPECT_NE(ended.status, 0);
  EXPECT_THAT(ended.output, HasSubstr("--tensorboard_dir=/proc/no: cannot make this folder"));
}

}  // namespace
}  // namespace ringside
