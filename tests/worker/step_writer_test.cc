#include "worker/step_writer.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

namespace ringside {
namespace {

using ::testing::HasSubstr;

StepRecord Record(int64_t step) {
  StepRecord record;
  record.set_step(step);
  record.set_loss(0.25);
  record.set_step_s(0.5);
  return record;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class StepWriterTest : public testing::Test {
 protected:
  // A folder of its own for each test, because ctest runs them at the same time.
  StepWriterTest() {
    std::string name = testing::TempDir() + "/step_writer_XXXXXX";
    folder_ = mkdtemp(name.data());
    out_ = folder_ + "/deep";
  }
  ~StepWriterTest() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return out_ + "/steps/worker-3.jsonl"; }

  std::string folder_;
  std::string out_;
};

TEST_F(StepWriterTest, WritesOneObjectALineThatProtobufReads) {
  ASSERT_TRUE(PrepareOutputFolder(out_).ok());
  EXPECT_TRUE(std::filesystem::is_empty(out_ + "/steps"));
  auto writer = StepWriter::Create(out_, 3);
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (int64_t step : {1, 2, 3}) ASSERT_TRUE((*writer)->Append(Record(step)).ok());
  ASSERT_TRUE((*writer)->Close().ok());
  std::ifstream file(path());
  int64_t step = 0;
  for (std::string line; std::getline(file, line);) {
    StepRecord record;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(line, &record).ok()) << line;
    EXPECT_EQ(record.SerializeAsString(), Record(++step).SerializeAsString());
  }
  EXPECT_EQ(step, 3);
}

TEST_F(StepWriterTest, AJobThatGoesOnKeepsTheRecordsOfTheStepsBefore) {
  ASSERT_TRUE(PrepareOutputFolder(out_).ok());
  auto before = *StepWriter::Create(out_, 3);
  for (int64_t step = 1; step <= 12; ++step) ASSERT_TRUE(before->Append(Record(step)).ok());
  ASSERT_TRUE(before->Close().ok());
  std::ofstream(path(), std::ios::app) << "{\"step\":3,\"epo";  // torn
  auto after = *StepWriter::Create(out_, 3, /*resumed_step=*/10);
  ASSERT_TRUE(after->Append(Record(11)).ok());
  ASSERT_TRUE(after->Close().ok());
  std::string expected;
  for (int64_t step = 1; step <= 11; ++step) expected += ToJsonLine(Record(step));
  EXPECT_EQ(Contents(path()), expected);
  // In a folder of its own there is nothing to keep.
  ASSERT_TRUE((*StepWriter::Create(out_, 4, 10))->Close().ok());
}

TEST_F(StepWriterTest, LinesAppearWhileTraining) {
  ASSERT_TRUE(PrepareOutputFolder(out_).ok());
  auto writer = *StepWriter::Create(out_, 3);
  ASSERT_TRUE(writer->Append(Record(1)).ok());
  EXPECT_EQ(Contents(path()), "");
  ASSERT_TRUE(writer->Append(Record(2)).ok());  // a second of training is over
  EXPECT_THAT(Contents(path()), HasSubstr("\"step\":2,"));
}

TEST_F(StepWriterTest, ALineHasAllFieldsWithPlainNumbers) {
  StepRecord record = Record(7);
  record.set_loss(std::numeric_limits<double>::quiet_NaN());
  record.set_other_s(-std::numeric_limits<double>::infinity());
  EXPECT_EQ(ToJsonLine(record),
            "{\"step\":7,\"epoch\":0,\"loss\":\"NaN\",\"samples\":0,\"global_samples\":0,"
            "\"step_s\":0.5,\"data_s\":0,\"forward_s\":0,\"backward_s\":0,\"hidden_comm_s\":0,"
            "\"exposed_comm_s\":0,\"optimizer_s\":0,\"other_s\":\"-Infinity\",\"skipped\":0,"
            "\"ready_s\":0,"
            "\"first_ready_at_ns\":0,\"ready_at_ns\":0}\n");
  StepRecord parsed;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(ToJsonLine(record), &parsed).ok());
}

TEST_F(StepWriterTest, AnUnwritableFolderIsNamed) {
  const std::string file = folder_ + "/file";
  std::ofstream(file) << "x";
  for (const std::string& out : {file, file + "/below", std::string("/proc/nowhere")}) {
    const absl::Status status = PrepareOutputFolder(out);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("--out=" + out));
  }
  EXPECT_EQ(StepWriter::Create(file, 0).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(StepWriterTest, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  ASSERT_TRUE(PrepareOutputFolder(out_).ok());
  std::filesystem::create_symlink("/dev/full", path());
  auto writer = *StepWriter::Create(out_, 3);
  ASSERT_TRUE(writer->Append(Record(1)).ok());
  EXPECT_EQ(writer->Close().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace ringside
