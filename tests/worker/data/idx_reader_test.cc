#include "worker/data/idx_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <string>

namespace ringside {
namespace {

using ::testing::HasSubstr;

const std::string kTwoByThree(
    "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
    "abcdef",
    18);

std::string PathOf(const std::string& name) { return testing::TempDir() + "/idx_reader_" + name; }

std::string WritePlain(const std::string& name, const std::string& bytes) {
  const std::string path = PathOf(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string WriteGzip(const std::string& name, const std::string& bytes) {
  const std::string path = PathOf(name);
  const gzFile file = gzopen(path.c_str(), "wb");
  EXPECT_EQ(gzwrite(file, bytes.data(), bytes.size()), static_cast<int>(bytes.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  return path;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void ExpectRefused(const std::string& path, int dimensions, const std::string& message) {
  const auto array = ReadIdxBytes(path, dimensions);
  EXPECT_EQ(array.status().code(), absl::StatusCode::kInvalidArgument) << path;
  EXPECT_THAT(std::string(array.status().message()), HasSubstr(message));
  EXPECT_THAT(std::string(array.status().message()), HasSubstr(path));
}

TEST(IdxReaderTest, ReadsPlainAndCompressedAlike) {
  for (const std::string& path : {WritePlain("plain", kTwoByThree), WriteGzip("gz", kTwoByThree)}) {
    const auto array = ReadIdxBytes(path, 2);
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(std::string(array->values.begin(), array->values.end()), "abcdef");
  }
}

TEST(IdxReaderTest, AnEmptyArrayIsAnArray) {
  const auto array = ReadIdxBytes(WritePlain("empty", std::string("\0\0\x08\x01\0\0\0\0", 8)), 1);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->shape, std::vector<int64_t>{0});
  EXPECT_TRUE(array->values.empty());
}

TEST(IdxReaderTest, EveryTruncationIsFound) {
  for (size_t length = 0; length < kTwoByThree.size(); ++length) {
    ExpectRefused(WritePlain("cut", kTwoByThree.substr(0, length)), 2, "truncated");
    ExpectRefused(WriteGzip("cut_gz", kTwoByThree.substr(0, length)), 2, "truncated");
  }
}

TEST(IdxReaderTest, TruncatedCompressionIsFound) {
  std::string noise = kTwoByThree;
  noise.replace(4, 4, std::string("\0\0\x03\xe8", 4));  // 1000 x 3
  noise.resize(12);
  for (int i = 0; i < 3000; ++i) noise += static_cast<char>(i * i * 7 + i / 3);
  const std::string whole = Contents(WriteGzip("whole", noise));
  for (size_t length : {whole.size() / 2, whole.size() - 9, whole.size() - 1}) {
    ExpectRefused(WritePlain("half", whole.substr(0, length)), 2, "damaged or truncated gzip");
  }
  std::string flipped = whole;
  flipped[flipped.size() - 6] ^= 1;  // the check sum
  ExpectRefused(WritePlain("flipped", flipped), 2, "damaged or truncated gzip");
}

TEST(IdxReaderTest, TrailingBytesAreFound) {
  ExpectRefused(WritePlain("long", kTwoByThree + "g"), 2, "has bytes after the 2x3");
  ExpectRefused(WriteGzip("long_gz", kTwoByThree + "g"), 2, "has bytes after the 2x3");
}

TEST(IdxReaderTest, WrongMagicIsFound) {
  std::string floats = kTwoByThree;
  floats[2] = 0x0d;
  ExpectRefused(WritePlain("floats", floats), 2, "starts with 00000d02, not 00000802");
  ExpectRefused(WritePlain("dimensions", kTwoByThree), 1, "starts with 00000802, not 00000801");
  ExpectRefused(WritePlain("text", "<html>not found</html>"), 3, "not an IDX file");
}

TEST(IdxReaderTest, AHugeHeaderCostsNoMemory) {
  const std::string huge(
      "\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
      "abc",
      19);
  ExpectRefused(WritePlain("huge", huge), 3, "truncated: 3 of the");
}

TEST(IdxReaderTest, MissingFileAndFolder) {
  EXPECT_EQ(ReadIdxBytes(PathOf("missing"), 1).status().code(), absl::StatusCode::kNotFound);
  ExpectRefused(testing::TempDir(), 1, "is not a regular file");
}

}  // namespace
}  // namespace ringside
