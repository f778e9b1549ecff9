#include "worker/checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::HasSubstr;

const std::vector<ParameterSpec> kParameters = {{"w", {3, 2}, "float32"}, {"b", {2}, "float32"}};

JobConfig Job() {
  JobConfig job;
  job.strategy = "ps";
  job.workers = 2;
  job.ps_shards = 2;
  job.batch_size = 5;
  job.steps = 100;
  job.lr.schedule = "step";
  job.lr.decay_steps = 3;
  job.lr.decay_factor = 0.5;
  return job;
}

TEST(ManifestTest, SaysWhereTheTrainingWas) {
  const BucketPlan plan = *BucketPlan::Create(kParameters, 4, 4);
  const ManifestMaker maker(Job(), plan, kParameters, /*training_samples=*/23, Provenance());
  // Epochs of 3 steps: 10, 10 and 3 samples.
  CheckpointManifest manifest = maker.After(3);
  EXPECT_EQ(manifest.epoch(), 0);
  EXPECT_EQ(manifest.position_in_epoch(), 23);
  EXPECT_EQ(manifest.samples_seen(), 23);
  EXPECT_DOUBLE_EQ(manifest.learning_rate(), 0.05);
  manifest = maker.After(5);
  EXPECT_EQ(manifest.epoch(), 1);
  EXPECT_EQ(manifest.position_in_epoch(), 20);
  EXPECT_EQ(manifest.samples_seen(), 43);
  EXPECT_DOUBLE_EQ(manifest.learning_rate(), 0.025);
  ASSERT_EQ(manifest.tensors_size(), 2);
  EXPECT_EQ(manifest.tensors(1).name(), "b");
  EXPECT_EQ(manifest.tensors(1).offset(), 6);
  int64_t elements = 0;
  for (const ShardExtent& extent : manifest.shard_map()) elements += extent.length();
  EXPECT_EQ(elements, 8);
}

TEST(ManifestTest, WhatDecidesTheStateMustAgreeAndHowGradientsMeetNeedNot) {
  const BucketPlan plan = *BucketPlan::Create(kParameters, 4, 4);
  const CheckpointManifest manifest =
      ManifestMaker(Job(), plan, kParameters, 23, Provenance()).After(5);
  const auto check = [&](const JobConfig& job, int64_t samples = 23) {
    return std::string(CheckSettings(manifest, ResumeSettings(job, plan, samples)).message());
  };
  JobConfig other = Job();
  other.strategy = "ring";
  other.workers = 5;
  other.batch_size = 2;
  other.ps_shards = 1;
  other.steps = 500;
  EXPECT_EQ(check(other), "");
  EXPECT_THAT(check(Job(), 24), HasSubstr("training_samples is \"23\", that of this job \"24\""));
  other.batch_size = 3;
  EXPECT_THAT(check(other), HasSubstr("global_batch_size is \"10\", that of this job \"15\""));
  for (const auto& change : std::vector<std::function<void(JobConfig*)>>{
           [](JobConfig* job) { job->model = "lenet"; }, [](JobConfig* job) { job->seed = 2; },
           [](JobConfig* job) { job->optimizer.name = "adam"; },
           [](JobConfig* job) { job->optimizer.momentum = 0.5; },
           [](JobConfig* job) { job->lr.warmup_steps = 2; },
           [](JobConfig* job) { job->precision = "bf16"; },
           [](JobConfig* job) { job->dataset = "cifar"; }}) {
    JobConfig foreign = Job();
    change(&foreign);
    EXPECT_THAT(check(foreign), HasSubstr("of another training"));
  }
  const BucketPlan coarse = *BucketPlan::Create(kParameters, 400, 400);
  EXPECT_FALSE(CheckSettings(manifest, ResumeSettings(Job(), coarse, 23)).ok());
}

TEST(ManifestTest, ACosineThatEndsElsewhereIsAnotherTraining) {
  JobConfig job = Job();
  job.lr = {};
  job.lr.schedule = "cosine";
  const BucketPlan plan = *BucketPlan::Create(kParameters, 4, 4);
  const CheckpointManifest manifest =
      ManifestMaker(job, plan, kParameters, 23, Provenance()).After(5);
  job.steps = 200;
  EXPECT_THAT(std::string(CheckSettings(manifest, ResumeSettings(job, plan, 23)).message()),
              HasSubstr("lr_total_steps is \"100\""));
  job.lr.total_steps = 100;
  EXPECT_TRUE(CheckSettings(manifest, ResumeSettings(job, plan, 23)).ok());
}

}  // namespace
}  // namespace ringside
