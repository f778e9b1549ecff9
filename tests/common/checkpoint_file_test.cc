#include "common/checkpoint_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/checked_file.h"
#include "common/sha256.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class CheckpointFileTest : public ::testing::Test {
 protected:
  CheckpointFileTest() {
    std::string name = testing::TempDir() + "/checkpoint_file_XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/a.ckpt";
  }
  ~CheckpointFileTest() override { fs::remove_all(folder_); }

  std::vector<StateSection> Sections() {
    return {StateSection::Of("parameters", absl::MakeSpan(parameters_)),
            StateSection::Of("optimizer.sgd.0", absl::MakeSpan(momentum_)),
            StateSection::Of("counters", absl::MakeSpan(counters_)),
            StateSection::Of("buffers", absl::Span<float>())};
  }
  static CheckpointManifest Manifest() {
    CheckpointManifest manifest;
    manifest.set_step(7);
    (*manifest.mutable_settings())["model"] = "mlp";
    CheckpointTensor* tensor = manifest.add_tensors();
    tensor->set_name("fc.weight");
    tensor->add_shape(2);
    tensor->add_shape(1);
    tensor->set_dtype("float32");
    tensor->set_section("parameters");
    tensor->set_offset(1);
    return manifest;
  }
  void Write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string folder_, path_;
  std::vector<float> parameters_ = {1, -0.0f, 3};
  std::vector<float> momentum_ = {0.5f, 0.25f, 0.125f};
  std::vector<int64_t> counters_ = {42};
};

TEST_F(CheckpointFileTest, WhatWasWrittenIsRead) {
  const auto bytes = WriteCheckpointFile(path_, Manifest(), Sections());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, static_cast<int64_t>(fs::file_size(path_)));
  const auto read = ReadCheckpointFile(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->manifest.step(), 7);
  EXPECT_EQ(read->manifest.sections(0).sha256(), Sha256Hex(absl::MakeConstSpan(parameters_)));
  EXPECT_EQ(ReadCheckpointManifest(path_)->SerializeAsString(), read->manifest.SerializeAsString());
  EXPECT_EQ(read->Find("nobody"), nullptr);

  const std::vector<float> parameters = parameters_;
  parameters_ = {9, 9, 9};
  counters_ = {0};
  ASSERT_TRUE(RestoreSections(*read, Sections()).ok());
  EXPECT_EQ(Sha256Hex(absl::MakeConstSpan(parameters_)),
            Sha256Hex(absl::MakeConstSpan(parameters)));
  EXPECT_EQ(counters_[0], 42);
}

TEST_F(CheckpointFileTest, StateOfAnotherShapeIsNotRestored) {
  ASSERT_TRUE(WriteCheckpointFile(path_, Manifest(), Sections()).ok());
  const Checkpoint read = *ReadCheckpointFile(path_);
  std::vector<StateSection> sections = Sections();
  sections.pop_back();
  EXPECT_THAT(std::string(RestoreSections(read, sections).message()),
              HasSubstr("has a section buffers, for which this job has no place"));
  parameters_.push_back(1);
  const std::vector<float> before = parameters_;
  EXPECT_THAT(std::string(RestoreSections(read, Sections()).message()),
              HasSubstr("12 bytes of parameters; this job needs 16 bytes"));
  EXPECT_EQ(parameters_, before);
  sections = Sections();
  sections[0].name = "values";
  EXPECT_FALSE(RestoreSections(read, sections).ok());
}

TEST_F(CheckpointFileTest, EveryFlippedByteIsRefused) {
  ASSERT_TRUE(WriteCheckpointFile(path_, Manifest(), Sections()).ok());
  const std::string whole = Contents(path_);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    Write(damaged);
    const absl::Status status = ReadCheckpointFile(path_).status();
    EXPECT_TRUE(absl::IsDataLoss(status) || absl::IsFailedPrecondition(status))
        << "byte " << i << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
  }
}

TEST_F(CheckpointFileTest, EveryTruncationAndAnythingMoreIsRefused) {
  ASSERT_TRUE(WriteCheckpointFile(path_, Manifest(), Sections()).ok());
  const std::string whole = Contents(path_);
  for (size_t length = 0; length < whole.size(); ++length) {
    Write(whole.substr(0, length));
    EXPECT_EQ(ReadCheckpointFile(path_).status().code(), absl::StatusCode::kDataLoss) << length;
    EXPECT_FALSE(ReadCheckpointManifest(path_).ok()) << length;
  }
  Write(whole + "x");
  EXPECT_THAT(std::string(ReadCheckpointFile(path_).status().message()), HasSubstr("1 of its"));
}

// A manifest whose sums are right but which lies.
TEST_F(CheckpointFileTest, ImpossibleLengthsAllocateNothing) {
  const CheckedFormat format{"RINGCKPT", 1, "a checkpoint", 1 << 20};
  const auto written = [&](const CheckpointManifest& manifest) {
    EXPECT_TRUE(WriteCheckedFile(path_, [&](CheckedWriter* writer) {
                  return writer->WriteHeader(format, manifest.SerializeAsString());
                }).ok());
    return ReadCheckpointFile(path_).status();
  };
  CheckpointManifest manifest;
  manifest.set_schema_version(kCheckpointSchemaVersion);
  EXPECT_TRUE(written(manifest).ok());
  for (uint64_t bytes : {uint64_t{8}, uint64_t{1} << 40, UINT64_MAX - 3, UINT64_MAX}) {
    CheckpointManifest lying = manifest;
    for (int i = 0; i < 2; ++i) {
      lying.add_sections()->set_dtype("float32");
      lying.mutable_sections(i)->set_bytes(bytes);
    }
    EXPECT_EQ(written(lying).code(), absl::StatusCode::kDataLoss) << bytes;
  }
  CheckpointManifest tensor = manifest;
  for (int64_t extent : {int64_t{-1}, int64_t{1}, INT64_MAX}) {
    *tensor.mutable_tensors() = Manifest().tensors();
    tensor.mutable_tensors(0)->set_shape(0, extent);
    EXPECT_THAT(std::string(written(tensor).message()),
                HasSubstr("tensor fc.weight lies in no section"));
  }
  CheckpointManifest later = manifest;
  later.set_schema_version(kCheckpointSchemaVersion + 1);
  EXPECT_EQ(written(later).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(CheckpointFileTest, OtherFilesAreNoCheckpoints) {
  EXPECT_EQ(ReadCheckpointFile(path_).status().code(), absl::StatusCode::kNotFound);
  Write("a file of twenty bytes and more");
  EXPECT_THAT(std::string(ReadCheckpointFile(path_).status().message()),
              HasSubstr("not a checkpoint: does not start with RINGCKPT"));
  EXPECT_FALSE(ReadCheckpointFile(folder_).ok());
}

}  // namespace
}  // namespace ringside
