#include "ps_server/snapshot_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "snapshot.pb.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

const SnapshotIdentity kOurs{"job a", 1, 3, "plan p", "settings s"};

std::string LittleEndian(uint64_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}
std::string Prefix(const SnapshotHeader& header) {
  return "RINGSNAP" + LittleEndian(1) + LittleEndian(header.ByteSizeLong());
}
std::string WithSum(const std::string& bytes) {
  return bytes + LittleEndian(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()),
                                      static_cast<z_size_t>(bytes.size())));
}

class SnapshotFileTest : public ::testing::Test {
 protected:
  SnapshotFileTest() {
    std::string name = testing::TempDir() + "/snapshot_file_XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/state.snap";
    view_.step = 120;
    view_.generation = 7;
    view_.parameters = parameters_;
    view_.optimizer_state = {mean_, square_};
    view_.versions = versions_;
  }
  ~SnapshotFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Contents() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void SetContents(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string folder_;
  std::string path_;
  std::vector<float> parameters_ = {1.5f, -0.0f, std::numeric_limits<float>::denorm_min()};
  std::vector<float> mean_ = {4, 5, std::numeric_limits<float>::infinity()};
  std::vector<float> square_ = {7, 8, 9};
  std::vector<uint64_t> versions_ = {1, std::numeric_limits<uint64_t>::max()};
  SnapshotView view_;
};

TEST_F(SnapshotFileTest, ComesBackInEveryBit) {
  const auto written = WriteSnapshotFile(path_, kOurs, view_);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(*written, static_cast<int64_t>(std::filesystem::file_size(path_)));
  const auto read = ReadSnapshotFile(path_, kOurs);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->step, 120u);
  EXPECT_EQ(read->generation, 7u);
  ASSERT_EQ(read->parameters.size(), 3u);
  EXPECT_EQ(std::memcmp(read->parameters.data(), parameters_.data(), 3 * sizeof(float)), 0);
  EXPECT_EQ(read->optimizer_state, (std::vector<std::vector<float>>{mean_, square_}));
  EXPECT_EQ(read->versions, versions_);
  EXPECT_EQ(*CheckSnapshotFile(path_, kOurs), 120u);
}

TEST_F(SnapshotFileTest, WhatIsEmptyComesBackEmpty) {
  SnapshotView empty;
  empty.optimizer_state.resize(1);
  ASSERT_TRUE(WriteSnapshotFile(path_, kOurs, empty).ok());
  const auto read = ReadSnapshotFile(path_, kOurs);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->step, 0u);
  EXPECT_TRUE(read->parameters.empty());
  EXPECT_EQ(read->optimizer_state, (std::vector<std::vector<float>>{{}}));
  EXPECT_TRUE(read->versions.empty());
}

TEST_F(SnapshotFileTest, SectionsOfManyChunks) {
  std::vector<float> many(300'001);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
  view_.parameters = many;
  ASSERT_TRUE(WriteSnapshotFile(path_, kOurs, view_).ok());
  const auto read = ReadSnapshotFile(path_, kOurs);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->parameters == many);
  EXPECT_EQ(read->versions, versions_);
}

TEST_F(SnapshotFileTest, ReplacesALongerFile) {
  SetContents(std::string(10'000, 'x'));
  ASSERT_TRUE(WriteSnapshotFile(path_, kOurs, view_).ok());
  EXPECT_TRUE(ReadSnapshotFile(path_, kOurs).ok());
}

TEST_F(SnapshotFileTest, EveryTruncationIsRefused) {
  ASSERT_TRUE(WriteSnapshotFile(path_, kOurs, view_).ok());
  const std::string whole = Contents();
  for (size_t length = 0; length < whole.size(); ++length) {
    SetContents(whole.substr(0, length));
    const absl::Status status = ReadSnapshotFile(path_, kOurs).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << length << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path_ + ": torn"));
    EXPECT_EQ(CheckSnapshotFile(path_, kOurs).status().code(), absl::StatusCode::kDataLoss)
        << length;
  }
  SetContents(whole);
  EXPECT_TRUE(ReadSnapshotFile(path_, kOurs).ok());
}

TEST_F(SnapshotFileTest, EveryFlippedBitIsRefused) {
  ASSERT_TRUE(WriteSnapshotFile(path_, kOurs, view_).ok());
  const std::string whole = Contents();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      SetContents(flipped);
      const absl::Status status = ReadSnapshotFile(path_, kOurs).status();
      const bool version = at >= 8 && at < 12;
      EXPECT_EQ(status.code(),
                version ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kDataLoss)
          << "byte " << at << " bit " << bit << ": " << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
    }
  }
}

TEST_F(SnapshotFileTest, SaysWhatIsDamaged) {
  ASSERT_TRUE(WriteSnapshotFile(path_, kOurs, view_).ok());
  const std::string whole = Contents();
  const auto error = [&](const std::string& bytes) {
    SetContents(bytes);
    return std::string(ReadSnapshotFile(path_, kOurs).status().message());
  };
  // From the end: two versions, three squares, three means, each section with a sum of 4 bytes.
  const auto flipped_before_end = [&](size_t distance) {
    std::string bytes = whole;
    bytes[bytes.size() - distance] ^= 1;
    return bytes;
  };
  EXPECT_THAT(error(flipped_before_end(20)), HasSubstr("the CRC-32 of its versions is "));
  EXPECT_THAT(error(flipped_before_end(36)), HasSubstr("the CRC-32 of its optimizer state 1 is "));
  EXPECT_THAT(error(flipped_before_end(52)), HasSubstr("the CRC-32 of its optimizer state 0 is "));
  EXPECT_THAT(error(flipped_before_end(68)), HasSubstr("the CRC-32 of its parameters is "));
  EXPECT_THAT(error(whole + "xyz"), HasSubstr("damaged: 3 of its "));
  EXPECT_THAT(error("[section]\nkey = a configuration file\n"),
              HasSubstr("not a snapshot: does not start with RINGSNAP"));
}

TEST_F(SnapshotFileTest, LengthsThatCannotBeAreRefusedBeforeTheyAreAllocated) {
  // Headers whose sum is right, with lengths that are not there, or whose bytes overflow.
  const uint64_t lengths[][3] = {{1, 0, 0},
                                 {0, 1, 0},
                                 {0, 0, 1},
                                 {uint64_t{1} << 40, 0, 0},
                                 {uint64_t{1} << 62, 0, 0},
                                 {0, std::numeric_limits<uint64_t>::max(), 0},
                                 {0, 0, uint64_t{1} << 61}};
  for (const auto& [parameters, state, versions] : lengths) {
    SnapshotHeader header;
    header.set_parameters(parameters);
    header.add_optimizer_state(state);
    header.set_versions(versions);
    SetContents(WithSum(Prefix(header) + header.SerializeAsString()) + std::string(12, '\0'));
    const absl::Status status = ReadSnapshotFile(path_, kOurs).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("bytes are fewer than its header announces"))
        << parameters << " " << state << " " << versions;
  }
}

TEST_F(SnapshotFileTest, WhatIsForeignIsRefusedByName) {
  ASSERT_TRUE(WriteSnapshotFile(path_, kOurs, view_).ok());
  const auto refusal = [&](const SnapshotIdentity& identity) {
    const absl::Status status = ReadSnapshotFile(path_, identity).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_EQ(CheckSnapshotFile(path_, identity).status(), status);
    return std::string(status.message());
  };
  EXPECT_EQ(refusal({"job b", 1, 3, "plan p", "settings s"}),
            path_ + ": of another job: job a, must be job b");
  EXPECT_EQ(refusal({"job a", 2, 3, "plan p", "settings s"}),
            path_ + ": of another shard: 1, must be 2");
  EXPECT_EQ(refusal({"job a", 1, 4, "plan p", "settings s"}),
            path_ + ": of another number of shards: 3, must be 4");
  EXPECT_EQ(refusal({"job a", 1, 3, "plan q", "settings s"}),
            path_ + ": of another bucket plan: plan p, must be plan q");
  EXPECT_EQ(refusal({"job a", 1, 3, "plan p", "settings t"}),
            path_ + ": of another hash of the settings: settings s, must be settings t");
}

TEST_F(SnapshotFileTest, WhatTheSystemRefusesNamesTheFile) {
  const std::string missing = folder_ + "/none/state.snap";
  const absl::Status read = ReadSnapshotFile(missing, kOurs).status();
  EXPECT_EQ(read.code(), absl::StatusCode::kNotFound) << read;
  EXPECT_THAT(std::string(read.message()), HasSubstr("opening " + missing));
  const absl::Status written = WriteSnapshotFile(missing, kOurs, view_).status();
  EXPECT_EQ(written.code(), absl::StatusCode::kNotFound) << written;
  EXPECT_THAT(std::string(written.message()), HasSubstr("creating " + missing));
  const absl::Status folder = ReadSnapshotFile(folder_, kOurs).status();
  EXPECT_THAT(std::string(folder.message()), HasSubstr("reading " + folder_));
  // A device that is always full.
  const absl::Status full = WriteSnapshotFile("/dev/full", kOurs, view_).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
  EXPECT_THAT(std::string(full.message()), HasSubstr("writing /dev/full, after 0 bytes"));
}

TEST_F(SnapshotFileTest, AHeaderThatNobodyCouldReadIsNotWritten) {
  SnapshotIdentity identity = kOurs;
  identity.job = std::string(100'000, 'j');
  const absl::Status status = WriteSnapshotFile(path_, identity, view_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("must be at most 65536"));
}

}  // namespace
}  // namespace ringside
