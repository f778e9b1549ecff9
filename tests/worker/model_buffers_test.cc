#include "worker/model_buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(ModelBuffersTest, WhatIsSentIsReceivedBitForBit) {
  const BufferValues sent{{0.1f, -0.0f, 3e38f}, {7, INT64_MAX}};
  BufferValues received{{0, 0, 0}, {0, 0}};
  ASSERT_TRUE(DecodeBuffers(EncodeBuffers(sent), &received).ok());
  EXPECT_EQ(EncodeBuffers(received), EncodeBuffers(sent));
  BufferValues nothing;
  EXPECT_TRUE(nothing.empty());
  EXPECT_TRUE(DecodeBuffers("", &nothing).ok());
}

TEST(ModelBuffersTest, ABlobOfAnotherModelIsRefused) {
  BufferValues values{{0, 0}, {0}};
  EXPECT_EQ(DecodeBuffers("four", &values).message(),
            "the buffers of another rank have 4 bytes, those of this model 16");
}

TEST(ModelBuffersTest, TheMeanIsOverTheRanksAndCountersAreRankZeros) {
  const BufferValues mean =
      MeanOfBuffers({{{1, 2, 3, 4}, {5}}, {{3, 2, 1, 0}, {6}}, {{5, 2, -1, 2}, {7}}});
  EXPECT_EQ(mean.floats, (std::vector<float>{3, 2, 1, 2}));
  EXPECT_EQ(mean.counters, std::vector<int64_t>{5});
}

}  // namespace
}  // namespace ringside
