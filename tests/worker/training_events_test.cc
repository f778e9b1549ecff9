#include "worker/training_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/testing/process.h"
#include "tests/testing/python_interpreter.h"
#include "tests/worker/event_file.h"
#include "worker/global_loss.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const absl::Time kStart = absl::FromUnixSeconds(1700000000);

StepRecord Record(int64_t step, double loss, int64_t samples, int64_t global_samples) {
  StepRecord record;
  record.set_step(step);
  record.set_loss(loss);
  record.set_samples(samples);
  record.set_global_samples(global_samples);
  record.set_step_s(0.5);
  record.set_exposed_comm_s(0.125);
  return record;
}

// Two ranks, three steps; rank 1 has no samples in the last.
RunResult TwoRanks() {
  RunResult run;
  WorkerResult* zero = run.add_worker_results();
  *zero->add_steps() = Record(1, 1.0, 8, 16);
  *zero->add_steps() = Record(2, 0.5, 8, 16);
  *zero->add_steps() = Record(3, 0.75, 4, 4);
  WorkerResult* one = run.add_worker_results();
  *one->add_steps() = Record(1, 1.5, 8, 16);
  *one->add_steps() = Record(2, 0.25, 8, 16);
  *one->add_steps() = Record(3, 0, 0, 4);
  run.mutable_evaluation()->set_accuracy(0.875);
  run.mutable_evaluation()->set_mean_loss(0.375);
  return run;
}

class TrainingEventsTest : public ::testing::Test {
 protected:
  TrainingEventsTest() {
    std::string pattern = ::testing::TempDir() + "training_events_XXXXXX";
    job_.tensorboard_dir = mkdtemp(pattern.data());
    job_.strategy = "ring";
    job_.workers = 2;
    job_.optimizer.learning_rate = 0.5;
    job_.lr.schedule = "step";
    job_.lr.decay_steps = 2;
    job_.lr.decay_factor = 0.5;
  }
  ~TrainingEventsTest() override { std::filesystem::remove_all(job_.tensorboard_dir); }

  // Tells the steps of rank 0 of `run`, then its end.
  std::vector<tensorboard::Event> Write(const RunResult& run) {
    auto events = TrainingEvents::Create(job_, kStart);
    EXPECT_TRUE(events.ok()) << events.status();
    for (const StepRecord& record : run.worker_results(0).steps()) {
      EXPECT_TRUE((*events)->OnStep(record, kStart + absl::Seconds(record.step())).ok());
    }
    EXPECT_TRUE((*events)->OnEnd(run, kStart + absl::Seconds(60)).ok());
    return ReadEvents(OnlyFile(job_.tensorboard_dir));
  }

  JobConfig job_;
};

TEST(GlobalLossTest, AddsTheRanksPartsAndLeavesOutWhatNobodyHad) {
  RunResult run = TwoRanks();
  *run.mutable_worker_results(1)->add_steps() = Record(4, 0, 0, 0);
  const std::vector<GlobalLoss> losses = GlobalLosses(run);
  ASSERT_EQ(losses.size(), 3u);
  EXPECT_EQ(losses[0].loss, 2.5);
  EXPECT_EQ(losses[1].loss, 0.75);
  EXPECT_EQ(losses[2].loss, 0.75);
}

TEST(GlobalLossTest, ARankThatLeftAStepOutIsNotCountedAsZero) {
  RunResult run = TwoRanks();
  run.mutable_worker_results(1)->mutable_steps()->DeleteSubrange(0, 1);
  EXPECT_EQ(GlobalLosses(run)[0].loss, 2.0);
}

TEST_F(TrainingEventsTest, RankZeroTellsItsOwnMeanAndAtTheEndThatOfAll) {
  const auto events = Write(TwoRanks());
  EXPECT_THAT(Values(events, "loss/rank0_mean"),
              ElementsAre(Pair(1, 2.0f), Pair(2, 1.0f), Pair(3, 0.75f)));
  EXPECT_THAT(Values(events, "loss/global_batch"),
              ElementsAre(Pair(1, 2.5f), Pair(2, 0.75f), Pair(3, 0.75f)));
  EXPECT_THAT(Values(events, "learning_rate"),
              ElementsAre(Pair(1, 0.5f), Pair(2, 0.5f), Pair(3, 0.25f)));
  EXPECT_THAT(Values(events, "throughput/samples_per_s"),
              ElementsAre(Pair(1, 32.0f), Pair(2, 32.0f), Pair(3, 8.0f)));
  EXPECT_THAT(Values(events, "time/step_s"),
              ElementsAre(Pair(1, 0.5f), Pair(2, 0.5f), Pair(3, 0.5f)));
  EXPECT_THAT(Values(events, "time/exposed_communication_s"),
              ElementsAre(Pair(1, 0.125f), Pair(2, 0.125f), Pair(3, 0.125f)));
  EXPECT_THAT(Values(events, "test/accuracy"), ElementsAre(Pair(3, 0.875f)));
  EXPECT_THAT(Values(events, "test/mean_loss"), ElementsAre(Pair(3, 0.375f)));
  // Late news of a step carry the step's own time.
  for (const tensorboard::Event& event : events) {
    if (event.summary().value_size() == 1) {
      EXPECT_EQ(event.wall_time(), 1700000000.0 + static_cast<double>(event.step()));
    }
  }
}

TEST_F(TrainingEventsTest, OneProcessThatPlaysAllRanksKnowsTheGlobalLoss) {
  job_.strategy = "local";
  RunResult run;
  *run.add_worker_results()->add_steps() = Record(1, 2.5, 16, 16);
  const auto events = Write(run);
  EXPECT_THAT(Values(events, "loss/global_batch"), ElementsAre(Pair(1, 2.5f)));
  EXPECT_THAT(Values(events, "loss/rank0_mean"), IsEmpty());
  EXPECT_THAT(Values(events, "test/accuracy"), IsEmpty());
}

TEST_F(TrainingEventsTest, WorkersThatAreNotInStepHaveNoCommonRateOrLearningRate) {
  job_.strategy = "ps";
  job_.ps_mode = "async";
  const auto events = Write(TwoRanks());
  EXPECT_THAT(Values(events, "learning_rate"), IsEmpty());
  EXPECT_THAT(Values(events, "throughput/samples_per_s"), IsEmpty());
  EXPECT_THAT(Values(events, "throughput/rank0_samples_per_s"),
              ElementsAre(Pair(1, 16.0f), Pair(2, 16.0f), Pair(3, 8.0f)));
}

TEST_F(TrainingEventsTest, AStepThatIsRunAgainBeginsAnew) {
  RunResult run = TwoRanks();
  *run.mutable_worker_results(0)->add_steps() = Record(2, 0.125, 8, 16);
  const auto events = Write(run);
  std::vector<int64_t> restarts;
  for (const tensorboard::Event& event : events) {
    if (event.has_session_log()) restarts.push_back(event.step());
  }
  EXPECT_THAT(restarts, ElementsAre(1, 2));
}

// What a user sees: PyPI's tensorboard reads the file, without the steps that were run again.
TEST_F(TrainingEventsTest, TensorBoardReadsIt) {
  const std::string python = PythonWith("tensorboard.backend.event_processing.event_accumulator");
  if (python.empty()) {
    GTEST_SKIP() << "no Python imports tensorboard; `make test-python` installs it";
  }
  RunResult run = TwoRanks();
  StepRecord again = Record(2, 0.125, 8, 16);
  again.set_exposed_comm_s(0);
  *run.mutable_worker_results(0)->add_steps() = again;
  Write(run);
  TestProcess::Config config;
  config.argv = {python, std::string(RINGSIDE_SOURCE_DIR) + "/tests/worker/read_events.py",
                 job_.tensorboard_dir};
  const TestProcess::Ended ended = RunProcess(config, absl::Minutes(1));
  ASSERT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(
      ended.output,
      AllOf(HasSubstr("loss/rank0_mean 1 2\n"
                      "loss/rank0_mean 2 0.25\n"),
            HasSubstr("loss/global_batch 1 2.5\n"), HasSubstr("learning_rate 1 0.5\n"),
            HasSubstr("time/exposed_communication_s 2 0\n"), HasSubstr("test/accuracy 2 0.875\n")));
  EXPECT_THAT(ended.output, ::testing::Not(HasSubstr("loss/rank0_mean 3")));
}

}  // namespace
}  // namespace ringside
