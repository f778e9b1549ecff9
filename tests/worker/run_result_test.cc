#include "worker/run_result.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string WorkerBlob(int rank, const std::string& hash) {
  WorkerResult result;
  result.set_rank(rank);
  result.set_parameters_sha256(hash);
  result.mutable_evaluation()->set_accuracy(0.5);
  return result.SerializeAsString();
}

RunResultParts MakeParts() {
  RunResultParts parts;
  parts.job.strategy = "ps";
  parts.job.workers = 2;
  parts.job.ps_shards = 3;
  parts.job.batch_size = 16;
  parts.job.steps = 20;
  parts.job.trial = 4;
  parts.worker_blobs = {WorkerBlob(0, "abc"), WorkerBlob(1, "abc")};
  parts.shard_blobs = {ShardResult().SerializeAsString()};
  parts.total_steps = 20;
  parts.parameter_elements = 99;
  parts.bucket_elements = {33, 66};
  parts.command = {"worker", "--steps=20"};
  return parts;
}

TEST(RunResultTest, CountsSkippedStepsAndRecordsTheRate) {
  RunResultParts parts = MakeParts();
  parts.job.optimizer.learning_rate = 0.5;
  parts.job.lr_scaling = "linear";
  for (std::string& blob : parts.worker_blobs) {
    WorkerResult worker;
    for (int64_t skipped : {0, 1, 0, 1}) worker.add_steps()->set_skipped(skipped);
    blob = worker.SerializeAsString();
  }
  const auto result = AssembleRunResult(parts);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->skipped_steps(), 2);
  EXPECT_EQ(result->effective_learning_rate(), 1);
}

TEST(RunResultTest, HoldsAllThatWasGathered) {
  const auto result = AssembleRunResult(MakeParts());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->schema_version(), 1);
  EXPECT_EQ(result->strategy(), "ps");
  EXPECT_EQ(result->workers(), 2);
  EXPECT_EQ(result->shards(), 3);
  EXPECT_EQ(result->global_batch_size(), 32);
  EXPECT_EQ(result->trial(), 4);
  EXPECT_EQ(result->total_steps(), 20);
  EXPECT_EQ(result->warmup_steps(), 10);
  EXPECT_EQ(result->parameter_elements(), 99);
  EXPECT_THAT(result->bucket_elements(), ElementsAre(33, 66));
  EXPECT_EQ(result->worker_results_size(), 2);
  EXPECT_EQ(result->worker_results(1).rank(), 1);
  EXPECT_EQ(result->shard_results_size(), 1);
  EXPECT_EQ(result->parameters_sha256(), "abc");
  EXPECT_EQ(result->evaluation().accuracy(), 0.5);
  EXPECT_EQ(result->settings().at("batch_size"), "16");
  EXPECT_EQ(result->settings().at("data_dir"), "data/mnist10k");
  EXPECT_EQ(result->settings().at("lease"), "10s");
  EXPECT_EQ(result->command(1), "--steps=20");
}

TEST(RunResultTest, DisagreeingRanksHaveNoHash) {
  RunResultParts parts = MakeParts();
  parts.worker_blobs[1] = WorkerBlob(1, "abd");
  EXPECT_EQ(AssembleRunResult(parts)->parameters_sha256(), "");
}

TEST(RunResultTest, AParameterServerIsReportedByItsMode) {
  const auto strategy = [](const std::string& mode, const std::string& update) {
    RunResultParts parts = MakeParts();
    parts.job.ps_mode = mode;
    parts.job.update = update;
    parts.job.staleness = mode == "ssp" ? 3 : 0;
    parts.job.backup_workers = mode == "backup" ? 1 : 0;
    const auto result = AssembleRunResult(parts);
    EXPECT_EQ(result->settings().at("strategy"), "ps");
    return result->strategy();
  };
  EXPECT_EQ(strategy("sync", "worker"), "ps");
  EXPECT_EQ(strategy("sync", "server"), "ps server-update");
  EXPECT_EQ(strategy("async", "worker"), "ps async");
  EXPECT_EQ(strategy("ssp", "server"), "ps ssp 3");
  EXPECT_EQ(strategy("backup", "worker"), "ps backup 1");
}

TEST(RunResultTest, ADirectScheduleIsReportedAsWhatItIs) {
  const auto strategy = [](const std::string& asked, const std::string& schedule) {
    RunResultParts parts = MakeParts();
    parts.job.strategy = asked;
    parts.job.schedule = "auto";
    for (std::string& blob : parts.worker_blobs) {
      WorkerResult worker;
      worker.ParseFromString(blob);
      (*worker.mutable_process()->mutable_facts())["schedule"] = schedule;
      blob = worker.SerializeAsString();
    }
    const auto result = AssembleRunResult(parts);
    EXPECT_EQ(result->settings().at("strategy"), asked);
    EXPECT_EQ(result->settings().at("schedule"), "auto");
    return result->strategy();
  };
  EXPECT_EQ(strategy("ring", "direct"), "direct");
  EXPECT_EQ(strategy("ring", "ring"), "ring");
  EXPECT_EQ(strategy("ps", "direct"), "ps");
  RunResultParts alone = MakeParts();
  alone.job.strategy = "ring";
  alone.job.workers = 1;
  alone.job.schedule = "direct";
  alone.worker_blobs.resize(1);
  EXPECT_EQ(AssembleRunResult(alone)->strategy(), "direct");
}

TEST(RunResultTest, AShortJobHasNoWarmUp) {
  RunResultParts parts = MakeParts();
  parts.total_steps = 10;
  EXPECT_EQ(AssembleRunResult(parts)->warmup_steps(), 0);
}

TEST(RunResultTest, AnUnreadableBlobIsNamed) {
  RunResultParts parts = MakeParts();
  parts.worker_blobs[1] = "\xff\xff";
  EXPECT_EQ(AssembleRunResult(parts).status().message(), "the results of worker 1 cannot be read");
}

TEST(RunResultTest, WritesJsonWithProtoFieldNames) {
  const std::string out = testing::TempDir() + "/run_result_test";
  std::filesystem::remove_all(out);
  std::filesystem::create_directories(out);
  const RunResult result = *AssembleRunResult(MakeParts());
  ASSERT_TRUE(WriteRunResult(result, out).ok());
  std::ifstream file(out + "/results.json");
  const std::string json{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_THAT(json, HasSubstr("\"parameters_sha256\": \"abc\""));
  RunResult read;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, &read).ok());
  EXPECT_EQ(read.worker_results(1).rank(), 1);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(out), {}), 1);
}

TEST(RunResultTest, AMissingFolderIsAnError) {
  const absl::Status status = WriteRunResult(RunResult(), "/proc/nowhere");
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/proc/nowhere/results.json"));
}

}  // namespace
}  // namespace ringside
