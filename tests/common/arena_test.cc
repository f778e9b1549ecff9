#include "common/arena.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ringside {
namespace {

TEST(ArenaTest, IsZeroedAlignedAndWritableToTheEnd) {
  auto arena = Arena::Create(1'000'003, Arena::Placement::kHeap);
  ASSERT_TRUE(arena.ok());
  const absl::Span<float> span = (*arena)->span();
  ASSERT_EQ(span.size(), 1'000'003u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(span.data()) % 64, 0u);
  for (float value : span) ASSERT_EQ(value, 0.0f);
  span.back() = 1;
  EXPECT_EQ((*arena)->span().back(), 1.0f);
}

TEST(ArenaTest, MayBeEmpty) {
  EXPECT_TRUE((*Arena::Create(0, Arena::Placement::kHeap))->span().empty());
}

TEST(ArenaTest, RefusesNegativeAndImpossibleSizes) {
  EXPECT_EQ(Arena::Create(-1, Arena::Placement::kHeap).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Arena::Create(int64_t{1} << 60, Arena::Placement::kHeap).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace ringside
