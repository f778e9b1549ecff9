#include "common/network/frame_queue.h"

#include <gtest/gtest.h>

#include "common/network/grpc_frame.h"

namespace ringside {
namespace {

FrameHeader Header(uint64_t location) {
  FrameHeader header;
  header.elements = 1;
  header.location = location;
  return header;
}

size_t NextLength(FrameQueue* queue) {
  const size_t length = queue->NextMessage().Length();
  queue->Written();
  return length;
}

TEST(FrameQueueTest, HeadersTravelTogetherAndPayloadAlone) {
  FrameQueue queue;
  const grpc::Slice payload("abcd");
  queue.Push(Header(LocationOf(0, 0)), grpc::Slice());
  queue.Push(Header(LocationOf(0, 4)), grpc::Slice());
  queue.Push(Header(0), payload);
  queue.Push(Header(0), payload);
  queue.Push(Header(LocationOf(0, 8)), grpc::Slice());
  EXPECT_EQ(NextLength(&queue), 128u);
  EXPECT_EQ(NextLength(&queue), 68u);
  EXPECT_EQ(NextLength(&queue), 68u);
  EXPECT_EQ(NextLength(&queue), 64u);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.traffic().messages_sent, 5);  // frames, whatever they travelled in
  EXPECT_EQ(queue.traffic().payload_bytes_sent, 20);
  EXPECT_EQ(queue.traffic().header_bytes_sent, 5 * 64);
}

TEST(FrameQueueTest, AMessageHoldsNoMoreThanItsReceiverTakes) {
  FrameQueue queue;
  for (size_t i = 0; i < kMaxFramesPerMessage + 1; ++i) {
    queue.Push(Header(LocationOf(0, 0)), grpc::Slice());
  }
  EXPECT_EQ(NextLength(&queue), kMaxFramesPerMessage * kFrameHeaderBytes);
  EXPECT_EQ(NextLength(&queue), kFrameHeaderBytes);
}

TEST(FrameQueueTest, WhatComesDuringAWriteWaits) {
  FrameQueue queue;
  queue.Push(Header(LocationOf(0, 0)), grpc::Slice());
  EXPECT_EQ(queue.NextMessage().Length(), 64u);
  queue.Push(Header(LocationOf(0, 4)), grpc::Slice());
  queue.Written();
  EXPECT_FALSE(queue.empty());
  queue.Clear();
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace ringside
