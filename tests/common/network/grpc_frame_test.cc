#include "common/network/grpc_frame.h"
#include "common/payload_fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "common/arena.h"
#include "common/payload_fold.h"

namespace ringside {
namespace {

using testing::HasSubstr;

FrameHeader Header(uint32_t elements, uint64_t location) {
  FrameHeader header;
  header.elements = elements;
  header.location = location;
  return header;
}

grpc::ByteBuffer Message(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string Bytes(const FrameHeader& header) {
  const EncodedFrameHeader bytes = EncodeFrameHeader(header);
  return std::string(bytes.begin(), bytes.end());
}

class GrpcFrameTest : public testing::Test {
 protected:
  GrpcFrameTest() {
    for (int i = 0; i < 100; ++i) arena_->span()[i] = static_cast<float>(i);
    std::vector<FileDescriptor> files;
    files.emplace_back(dup(arena_->memory_fd()));
    memory_ = *PeerMemory::Map(files, PeerMemory::Access::kRead);
  }
  std::string Error(const std::string& bytes) {
    std::vector<ReceivedFrame> frames(1);
    const absl::Status status = SplitMessage(Message(bytes), memory_, &frames);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(frames.size(), 1u);
    return std::string(status.message());
  }

  const std::unique_ptr<Arena> arena_ = *Arena::Create(100, Arena::Placement::kShared);
  std::shared_ptr<const PeerMemory> memory_;
  std::vector<ReceivedFrame> frames_;
};

TEST_F(GrpcFrameTest, AMessageIsOneFrameWithItsPayload) {
  const std::vector<float> values = {1, 2, 3};
  const grpc::ByteBuffer message =
      MakeFrame(Header(3, 0), grpc::Slice(values.data(), values.size() * sizeof(float)));
  ASSERT_TRUE(SplitMessage(message, nullptr, &frames_).ok());
  ASSERT_EQ(frames_.size(), 1u);
  std::vector<float> read(3);
  frames_[0].payload.CopyTo(absl::MakeSpan(read));
  EXPECT_EQ(read, values);
  EXPECT_TRUE(SplitFrame(message).ok());
}

TEST_F(GrpcFrameTest, OrSeveralHeadersWhosePayloadIsShared) {
  const std::vector<FrameHeader> headers = {Header(2, LocationOf(0, 40)),
                                            Header(3, LocationOf(0, 0))};
  ASSERT_TRUE(SplitMessage(MakeHeaders(headers), memory_, &frames_).ok());
  ASSERT_EQ(frames_.size(), 2u);
  EXPECT_EQ(frames_[1].header, headers[1]);
  std::vector<float> read(2);
  frames_[0].payload.CopyTo(absl::MakeSpan(read));
  EXPECT_EQ(read, (std::vector<float>{10, 11}));
  ForkJoin one_thread(1);
  FoldPayloads({&frames_[0].payload, &frames_[0].payload}, &one_thread, absl::MakeSpan(read));
  EXPECT_EQ(read, (std::vector<float>{20, 22}));
  memory_ = nullptr;  // the frames keep it
  EXPECT_EQ(frames_[1].payload.pieces()[0].size(), 12u);
  EXPECT_EQ(frames_[1].payload.pieces()[0][7], 0x3f);
}

TEST_F(GrpcFrameTest, HeadersMayBeCutAnywhere) {
  const std::string bytes =
      Bytes(Header(2, LocationOf(0, 40))) + Bytes(Header(3, LocationOf(0, 0)));
  for (size_t cut : {1, 63, 64, 65, 127}) {
    const grpc::Slice slices[] = {grpc::Slice(bytes.substr(0, cut)),
                                  grpc::Slice(bytes.substr(cut))};
    frames_.clear();
    ASSERT_TRUE(SplitMessage(grpc::ByteBuffer(slices, 2), memory_, &frames_).ok()) << cut;
    EXPECT_EQ(frames_.size(), 2u);
  }
}

TEST_F(GrpcFrameTest, MalformedMessagesAreRefusedByName) {
  const std::string good = Bytes(Header(2, LocationOf(0, 40)));
  EXPECT_THAT(Error(""), HasSubstr("header of 0 bytes"));
  EXPECT_THAT(Error(good.substr(0, 63)), HasSubstr("header of 63 bytes"));
  EXPECT_THAT(Error(good + good.substr(0, 8)), HasSubstr("72 bytes of headers"));
  std::string many;
  for (size_t i = 0; i <= kMaxFramesPerMessage; ++i) many += good;
  EXPECT_THAT(Error(many), HasSubstr("4160 bytes of headers; allowed are 1 to 64"));
  EXPECT_THAT(Error(good + std::string(64, 'x')), HasSubstr("wrong magic"));
  EXPECT_THAT(Error(good + Bytes(Header(2, 0))), HasSubstr("neither payload nor location"));
  EXPECT_THAT(Error(Bytes(Header(2, 0)) + good), HasSubstr("64 payload bytes in the push"));
}

TEST_F(GrpcFrameTest, LocationsOutsideTheMemoryAreRefused) {
  const uint64_t size = memory_->segment(0).size();
  EXPECT_THAT(Error(Bytes(Header(2, LocationOf(0, size - 4)))),
              HasSubstr("lie outside the 1 shared segments"));
  EXPECT_THAT(Error(Bytes(Header(2, LocationOf(0, (uint64_t{1} << 56) - 4)))),
              HasSubstr("lie outside"));
  EXPECT_THAT(Error(Bytes(Header(2, LocationOf(1, 0)))), HasSubstr("of segment 1 lie outside"));
  EXPECT_THAT(Error(Bytes(Header(2, 8))), HasSubstr("lie outside"));  // no segment
}

TEST_F(GrpcFrameTest, NobodyRefersToMemoryThatIsNotShared) {
  const grpc::ByteBuffer message = MakeHeaders({Header(2, LocationOf(0, 0))});
  EXPECT_THAT(std::string(SplitMessage(message, nullptr, &frames_).message()),
              HasSubstr("is not shared with this process"));
  EXPECT_THAT(std::string(SplitFrame(message).status().message()),
              HasSubstr("is not shared with this process"));
}

}  // namespace
}  // namespace ringside
