#include "common/arena.h"

#include <gtest/gtest.h>
#include <unistd.h>

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

TEST(ArenaTest, ASharedOneIsSeenThroughItsFile) {
  auto arena = Arena::Create(5000, Arena::Placement::kShared);
  ASSERT_TRUE(arena.ok()) << arena.status();
  EXPECT_EQ((*arena)->placement(), Arena::Placement::kShared);
  (*arena)->span()[4999] = 7;
  float value = 0;
  ASSERT_EQ(pread((*arena)->memory_fd(), &value, sizeof(value), 4999 * sizeof(float)),
            static_cast<ssize_t>(sizeof(value)));
  EXPECT_EQ(value, 7);
  // Whoever maps it must be able to rely on its size.
  EXPECT_NE(ftruncate((*arena)->memory_fd(), 0), 0);
  EXPECT_EQ((*Arena::Create(1, Arena::Placement::kHeap))->memory_fd(), -1);
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
