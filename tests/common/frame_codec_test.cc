#include "common/frame_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace ringside {
namespace {

using ::testing::HasSubstr;

FrameHeader Example() {
  FrameHeader header;
  header.kind = FrameKind::kReduceScatter;
  header.finite = false;
  header.group = 7;
  header.generation = 3;
  header.step = 0x1122334455667788;
  header.bucket = 9;
  header.sender = 4;
  header.offset = 1234567890123;
  header.elements = 262144;
  header.weight = 64;
  return header;
}

std::string Error(const EncodedFrameHeader& bytes) {
  return std::string(DecodeFrameHeader(bytes).status().message());
}

TEST(FrameCodecTest, ReadsWhatItWrote) {
  const auto decoded = DecodeFrameHeader(EncodeFrameHeader(Example()));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, Example());
  EXPECT_EQ(decoded->step, 0x1122334455667788u);
  EXPECT_EQ(decoded->offset, 1234567890123u);
  EXPECT_FALSE(decoded->finite);
}

TEST(FrameCodecTest, LayoutIsTheDocumentedOne) {
  const EncodedFrameHeader bytes = EncodeFrameHeader(Example());
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 4), "RIDE");
  EXPECT_EQ(bytes[4], 1);      // version
  EXPECT_EQ(bytes[5], 3);      // kind
  EXPECT_EQ(bytes[7], 0);      // not finite
  EXPECT_EQ(bytes[8], 7);      // group, little-endian
  EXPECT_EQ(bytes[16], 0x88);  // step
  EXPECT_EQ(bytes[46], 0x10);  // 1 MiB of payload
}

TEST(FrameCodecTest, RefusesTruncatedAndOverlongHeaders) {
  const EncodedFrameHeader bytes = EncodeFrameHeader(Example());
  const absl::Span<const uint8_t> whole(bytes);
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecodeFrameHeader(whole.subspan(0, length)).ok());
  }
  std::vector<uint8_t> longer(bytes.begin(), bytes.end());
  longer.push_back(0);
  EXPECT_THAT(DecodeFrameHeader(longer).status().message(), HasSubstr("65 bytes"));
}

TEST(FrameCodecTest, NamesWhatIsWrong) {
  auto bytes = EncodeFrameHeader(Example());
  bytes[0] ^= 1;
  EXPECT_THAT(Error(bytes), HasSubstr("magic"));
  bytes = EncodeFrameHeader(Example());
  bytes[4] = 2;
  EXPECT_THAT(Error(bytes), HasSubstr("version 2"));
  bytes = EncodeFrameHeader(Example());
  bytes[5] = 8;
  EXPECT_THAT(Error(bytes), HasSubstr("unknown kind 8"));
  bytes[5] = 0;
  EXPECT_THAT(Error(bytes), HasSubstr("unknown kind 0"));
  bytes = EncodeFrameHeader(Example());
  bytes[6] = 3;
  EXPECT_THAT(Error(bytes), HasSubstr("dtype 3"));
  bytes = EncodeFrameHeader(Example());
  bytes[7] = 2;
  EXPECT_THAT(Error(bytes), HasSubstr("reserved"));
  bytes = EncodeFrameHeader(Example());
  bytes[63] = 1;
  EXPECT_THAT(Error(bytes), HasSubstr("reserved"));
  bytes = EncodeFrameHeader(Example());
  bytes[44] = 4;  // payload bytes no longer fit the elements
  EXPECT_THAT(Error(bytes), HasSubstr("payload bytes for 262144 elements"));
}

TEST(FrameCodecTest, AFrameOfAServerMaySayWhereItsPayloadLies) {
  FrameHeader header = Example();
  header.kind = FrameKind::kResult;
  header.location = LocationOf(3, 0x123456789);
  const EncodedFrameHeader bytes = EncodeFrameHeader(header);
  EXPECT_EQ(bytes[63], 4);     // segment + 1
  EXPECT_EQ(bytes[56], 0x89);  // offset, little-endian
  const auto decoded = DecodeFrameHeader(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, header);
  EXPECT_EQ(SegmentOf(decoded->location), 3u);
  EXPECT_EQ(OffsetOf(decoded->location), 0x123456789u);
  EXPECT_GT(SegmentOf(uint64_t{5}), 255u);  // an offset without a segment is in none
  header.kind = FrameKind::kAllGather;
  EXPECT_THAT(Error(EncodeFrameHeader(header)), HasSubstr("reserved"));
}

TEST(FrameCodecTest, RefusesOversizedPayloads) {
  FrameHeader header = Example();
  header.elements = 262145;
  EXPECT_THAT(Error(EncodeFrameHeader(header)), HasSubstr("limit of 1048576 bytes"));
  header.elements = 0xffffffff;
  EXPECT_FALSE(DecodeFrameHeader(EncodeFrameHeader(header)).ok());
}

TEST(FrameCodecTest, RandomBytesAreRefusedOrReadBackTheSame) {
  std::mt19937_64 generator(1);
  const EncodedFrameHeader good = EncodeFrameHeader(Example());
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    EncodedFrameHeader bytes = good;
    for (uint64_t flips = generator() % 4; flips > 0; --flips)
      bytes[generator() % bytes.size()] = generator();
    const auto header = DecodeFrameHeader(bytes);
    if (!header.ok()) continue;
    ++accepted;
    EXPECT_EQ(EncodeFrameHeader(*header), bytes);
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace ringside
