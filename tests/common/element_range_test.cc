#include "common/element_range.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(PartTest, FirstPartsTakeTheRemainder) {
  EXPECT_EQ(Part({0, 10}, 4, 0), (ElementRange{0, 3}));
  EXPECT_EQ(Part({0, 10}, 4, 1), (ElementRange{3, 3}));
  EXPECT_EQ(Part({0, 10}, 4, 2), (ElementRange{6, 2}));
  EXPECT_EQ(Part({0, 10}, 4, 3), (ElementRange{8, 2}));
}

TEST(PartTest, MorePartsThanElementsLeavesEmptyOnes) {
  EXPECT_EQ(Part({7, 2}, 3, 1), (ElementRange{8, 1}));
  EXPECT_EQ(Part({7, 2}, 3, 2), (ElementRange{9, 0}));
  EXPECT_EQ(Part({7, 0}, 3, 0), (ElementRange{7, 0}));
}

TEST(PartTest, PartsTileTheWhole) {
  for (int64_t length = 0; length < 40; ++length) {
    for (int64_t parts = 1; parts < 9; ++parts) {
      int64_t next = 5;
      for (int64_t index = 0; index < parts; ++index) {
        const ElementRange part = Part({5, length}, parts, index);
        EXPECT_EQ(part.begin, next);
        next = part.end();
      }
      EXPECT_EQ(next, 5 + length);
    }
  }
}

TEST(IntersectTest, CommonPartOrEmpty) {
  EXPECT_EQ(Intersect({0, 10}, {4, 10}), (ElementRange{4, 6}));
  EXPECT_EQ(Intersect({4, 10}, {0, 10}), (ElementRange{4, 6}));
  EXPECT_TRUE(Intersect({0, 4}, {4, 4}).empty());
  EXPECT_TRUE(Intersect({0, 2}, {6, 4}).empty());
}

}  // namespace
}  // namespace ringside
