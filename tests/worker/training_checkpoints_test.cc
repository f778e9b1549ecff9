// A training that goes on from a checkpoint ends with the bits of one that never stopped.
#include "worker/training_checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/sha256.h"
#include "tests/worker/linear_data.h"
#include "tests/worker/linear_model.h"
#include "worker/synchronizers/local_summer.h"
#include "worker/synchronizers/synchronous_update.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr int64_t kSamples = 50;
constexpr int64_t kSteps = 40;

std::vector<int> Ranks(int world) {
  std::vector<int> ranks(world);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// A training of the linear model with `local`, as a worker does it.
class Training {
 public:
  explicit Training(const JobConfig& job)
      : job_(job),
        dataset_(MakeLinearDataset(kSamples)),
        model_(kLinearPixels),
        plan_(*BucketPlan::Create(model_.Parameters(), 4, 4)) {
    Trainer::Config config;
    config.player.world_size = job.workers;
    config.hosted_ranks = Ranks(job.workers);
    config.player.global_batch_size = job.global_batch_size();
    config.player.seed = job.seed;
    config.steps = job.steps;
    config.player.clock = [] { return absl::ZeroDuration(); };
    trainer_ = *Trainer::Create(std::move(config), dataset_.get(), &plan_, {&model_});
  }

  absl::Status Run() {
    TrainingCheckpoints::Config config{job_, 0, kSamples, trainer_->total_steps()};
    config.parameters = model_.Parameters();
    config.signals = &signals;
    config.depends_on_cut = depends_on_cut;
    auto checkpoints = TrainingCheckpoints::Open(std::move(config), plan_);
    if (!checkpoints.ok()) return checkpoints.status();
    checkpoints_ = *std::move(checkpoints);
    SynchronousUpdate::Config how{plan_, Ranks(job_.workers), job_.optimizer,
                                  *LocalSummer::Create({job_.workers, plan_}), job_.lr_schedule()};
    how.resumed_step = checkpoints_->resumed_step();
    auto update = *SynchronousUpdate::Create(std::move(how));
    absl::Status status =
        checkpoints_->Attach(trainer_.get(), update->State(),
                             {{StateSection::Of("counters", absl::MakeSpan(counters))}, {}});
    if (status.ok()) status = trainer_->Start(update.get());
    if (status.ok()) {
      status = trainer_->Run([this](const StepRecord& record) {
        steps.push_back(record.step());
        losses.push_back(record.loss());
        ++counters[0];
        if (record.step() == end_at) signals.end = true;
        return checkpoints_->OnStep(record.step());
      });
    }
    checkpoints_->Describe(&result);
    if (status.ok()) status = checkpoints_->Finish(&result).status();
    result.set_parameters_sha256(Sha256Hex(trainer_->parameters()));
    return status;
  }

  std::vector<int64_t> counters = {0};
  TrainingSignals signals;
  std::string depends_on_cut;
  int64_t end_at = 0;
  std::vector<int64_t> steps;
  std::vector<double> losses;
  WorkerResult result;

 private:
  const JobConfig job_;
  std::unique_ptr<const Dataset> dataset_;
  LinearModel model_;
  BucketPlan plan_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<TrainingCheckpoints> checkpoints_;
};

class TrainingCheckpointsTest : public ::testing::Test {
 protected:
  TrainingCheckpointsTest() {
    std::string name = testing::TempDir() + "/training_checkpoints_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~TrainingCheckpointsTest() override { fs::remove_all(folder_); }

  JobConfig Job(const std::string& name) const {
    JobConfig job;
    job.strategy = "local";
    job.workers = 3;
    job.batch_size = 4;
    job.steps = kSteps;
    job.optimizer.learning_rate = 0.02;
    job.optimizer.momentum = 0.9;
    job.lr.warmup_steps = 5;
    job.checkpoint_dir = folder_ + "/" + name;
    return job;
  }
  std::string folder_;
};

TEST_F(TrainingCheckpointsTest, GoingOnGivesTheBitsOfNeverHavingStopped) {
  std::mt19937 random(5);
  int number = 0;
  for (const char* optimizer : {"sgd", "adam"}) {
    JobConfig job = Job(absl::StrCat("whole", ++number));
    job.optimizer.name = optimizer;
    if (job.optimizer.name == "adam") job.optimizer.momentum = 0;
    Training whole(job);
    ASSERT_TRUE(whole.Run().ok());
    for (int trial = 0; trial < 10; ++trial) {
      job.checkpoint_dir = folder_ + "/" + absl::StrCat(++number);
      job.resume.clear();
      // Stopped twice.
      const int64_t first = 1 + static_cast<int64_t>(random() % (kSteps - 2));
      const int64_t second = first + 1 + static_cast<int64_t>(random() % (kSteps - first - 1));
      for (const int64_t stop : {first, second}) {
        Training part(job);
        part.end_at = stop;
        ASSERT_EQ(part.Run().code(), absl::StatusCode::kCancelled) << stop;
        job.resume = "latest";
      }
      Training rest(job);
      ASSERT_TRUE(rest.Run().ok());
      EXPECT_EQ(rest.steps.front(), second + 1);
      EXPECT_EQ(rest.steps.back(), kSteps);
      EXPECT_EQ(rest.result.parameters_sha256(), whole.result.parameters_sha256()) << second;
      EXPECT_EQ(rest.result.optimizer_state_sha256(), whole.result.optimizer_state_sha256());
      EXPECT_EQ(rest.result.buffers_sha256(), whole.result.buffers_sha256());
      EXPECT_EQ(rest.counters[0], kSteps);
      EXPECT_EQ(rest.losses,
                std::vector<double>(whole.losses.begin() + second, whole.losses.end()));
    }
  }
}

TEST_F(TrainingCheckpointsTest, AnotherWorldSizeDiffersByRoundingOnly) {
  JobConfig job = Job("a");
  Training whole(job);
  ASSERT_TRUE(whole.Run().ok());
  job.checkpoint_dir = folder_ + "/b";
  Training part(job);
  part.end_at = 17;
  ASSERT_EQ(part.Run().code(), absl::StatusCode::kCancelled);
  job.resume = "latest";
  job.workers = 2;
  job.batch_size = 6;
  Training rest(job);
  ASSERT_TRUE(rest.Run().ok());
  for (size_t i = 0; i < rest.losses.size(); ++i) {
    EXPECT_NEAR(rest.losses[i], whole.losses[i + 17], 1e-4);
  }
}

TEST_F(TrainingCheckpointsTest, AnotherCutIsRefusedWhereTheModelDependsOnIt) {
  JobConfig job = Job("a");
  Training part(job);
  part.depends_on_cut = "dropout";
  part.end_at = 17;
  ASSERT_EQ(part.Run().code(), absl::StatusCode::kCancelled);
  job.resume = "latest";
  JobConfig other = job;
  other.workers = 2;
  other.batch_size = 6;
  Training refused(other);
  refused.depends_on_cut = "dropout";
  const absl::Status status = refused.Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("its batch_cut is \"3 workers x 1 micro-batch x 4 samples\", that of this job "
                "\"2 workers x 1 micro-batch x 6 samples\""));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("depends on how the global batch is cut: --workers, --accumulate and "
                        "--batch_size must stay"));
  Training rest(job);
  rest.depends_on_cut = "dropout";
  EXPECT_TRUE(rest.Run().ok());
}

TEST_F(TrainingCheckpointsTest, SavingLeavesNoTraceAndIsAccountedFor) {
  JobConfig job = Job("");
  job.checkpoint_dir.clear();
  Training without(job);
  ASSERT_TRUE(without.Run().ok());
  EXPECT_FALSE(without.result.has_checkpoints());
  job = Job("a");
  job.checkpoint_steps = 7;
  Training with(job);
  ASSERT_TRUE(with.Run().ok());
  EXPECT_EQ(with.result.parameters_sha256(), without.result.parameters_sha256());
  EXPECT_EQ(with.result.optimizer_state_sha256(), without.result.optimizer_state_sha256());
  EXPECT_EQ(with.result.checkpoints().written(), 6);
  EXPECT_EQ(with.result.checkpoints().bytes(),
            static_cast<int64_t>(fs::file_size(folder_ + "/a/step-000040.ckpt")));
  EXPECT_TRUE(fs::exists(folder_ + "/a/step-000035.ckpt"));
  EXPECT_FALSE(fs::exists(folder_ + "/a/step-000028.ckpt"));
}

TEST_F(TrainingCheckpointsTest, WhatCannotBeUsedIsRefusedBeforeAnythingIsWritten) {
  JobConfig job = Job("a");
  job.checkpoint_steps = 10;
  ASSERT_TRUE(Training(job).Run().ok());
  // Another training in the same folder; the same, with nothing left; and one with another seed.
  EXPECT_EQ(Training(job).Run().code(), absl::StatusCode::kAlreadyExists);
  job.resume = "latest";
  const absl::Status done = Training(job).Run();
  EXPECT_EQ(done.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(done.message()), HasSubstr("is of step 40, and this job has 40 steps"));
  job.steps = 50;
  JobConfig foreign = job;
  foreign.seed = 2;
  const absl::Status refused = Training(foreign).Run();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("its seed is \"1\", that of this job \"2\""));
  // A torn one: the one before is offered, and works.
  fs::resize_file(folder_ + "/a/step-000040.ckpt", 100);
  const absl::Status torn = Training(job).Run();
  EXPECT_THAT(std::string(torn.message()), EndsWith("--resume=" + folder_ + "/a/step-000030.ckpt"));
  job.resume = folder_ + "/a/step-000030.ckpt";
  Training rest(job);
  ASSERT_TRUE(rest.Run().ok());
  EXPECT_EQ(rest.steps.front(), 31);
}

TEST_F(TrainingCheckpointsTest, RanksBesideTheFirstReadButDoNotWrite) {
  JobConfig job = Job("a");
  job.checkpoint_steps = 10;
  ASSERT_TRUE(Training(job).Run().ok());
  job.steps = 60;
  job.resume = "latest";
  LinearModel model(kLinearPixels);
  const BucketPlan plan = *BucketPlan::Create(model.Parameters(), 4, 4);
  TrainingCheckpoints::Config config{job, 1, kSamples, 60};
  config.parameters = model.Parameters();
  auto second = TrainingCheckpoints::Open(config, plan);
  ASSERT_TRUE(second.ok()) << second.status();
  config.rank = 0;
  auto first = TrainingCheckpoints::Open(config, plan);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->resumed_step(), 40);
  // All facts must agree, but for one that rank 0 alone tells.
  std::map<std::string, std::string> facts = (*second)->SharedFacts();
  EXPECT_EQ(facts.count(kSavesTraining), 0u);
  facts[kSavesTraining] = "true";
  EXPECT_EQ((*first)->SharedFacts(), facts);
  EXPECT_TRUE((*second)->OnStep(50).ok());
  EXPECT_FALSE(fs::exists(folder_ + "/a/step-000050.ckpt"));
}

}  // namespace
}  // namespace ringside
