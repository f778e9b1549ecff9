#include "allreduce/ring_schedule.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

constexpr int kMaxRanks = 9;

TEST(RingScheduleTest, OneRankHasNothingToDo) {
  const RingSchedule schedule(0, 1, 100, 10);
  EXPECT_EQ(schedule.num_steps(), 0);
  EXPECT_EQ(schedule.elements_to_receive(), 0);
}

TEST(RingScheduleTest, IsThePictureInTheHeaderForThreeRanks) {
  const int sends[4][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {0, 1, 2}};
  for (int step = 0; step < 4; ++step) {
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(RingSchedule(rank, 3, 9, 3).step(step).send_chunk, sends[step][rank]);
    }
  }
}

TEST(RingScheduleTest, WhatARankSendsIsWhatItsRightNeighbourReceives) {
  for (int size = 2; size <= kMaxRanks; ++size) {
    for (int rank = 0; rank < size; ++rank) {
      const RingSchedule own(rank, size, 100, 7);
      const RingSchedule right((rank + 1) % size, size, 100, 7);
      for (int step = 0; step < own.num_steps(); ++step) {
        EXPECT_EQ(own.step(step).send_chunk, right.step(step).receive_chunk);
        EXPECT_EQ(own.step(step).phase, right.step(step).phase);
      }
    }
  }
}

TEST(RingScheduleTest, WhatAStepReceivesIsWhatTheNextStepSends) {
  for (int size = 2; size <= kMaxRanks; ++size) {
    for (int rank = 0; rank < size; ++rank) {
      const RingSchedule schedule(rank, size, 100, 7);
      EXPECT_EQ(schedule.step(0).send_chunk, rank);
      for (int step = 0; step + 1 < schedule.num_steps(); ++step) {
        EXPECT_EQ(schedule.step(step).receive_chunk, schedule.step(step + 1).send_chunk);
      }
    }
  }
}

// Plays all ranks with strings in place of numbers.
TEST(RingScheduleTest, FoldsEveryChunkInLawOrderOnEveryRank) {
  for (int size = 1; size <= kMaxRanks; ++size) {
    std::vector<std::vector<std::string>> held(size, std::vector<std::string>(size));
    for (int rank = 0; rank < size; ++rank) {
      for (std::string& chunk : held[rank]) chunk = absl::StrCat(rank);
    }
    for (int step = 0; step < 2 * (size - 1); ++step) {
      const std::vector<std::vector<std::string>> before = held;
      for (int rank = 0; rank < size; ++rank) {
        const RingSchedule::Step plan = RingSchedule(rank, size, 1, 1).step(step);
        const std::string& arriving = before[(rank + size - 1) % size][plan.receive_chunk];
        std::string& mine = held[rank][plan.receive_chunk];
        if (plan.phase == RingSchedule::Phase::kReduceScatter) {
          mine = absl::StrCat("(", arriving, "+", mine, ")");
        } else {
          mine = arriving;
        }
      }
    }
    for (int chunk = 0; chunk < size; ++chunk) {
      std::string law = absl::StrCat(chunk);
      for (int i = 1; i < size; ++i) law = absl::StrCat("(", law, "+", (chunk + i) % size, ")");
      for (int rank = 0; rank < size; ++rank) EXPECT_EQ(held[rank][chunk], law);
    }
  }
}

TEST(RingScheduleTest, SegmentsCoverEachChunkInOrderAndWithoutOverlap) {
  for (int size = 1; size <= 5; ++size) {
    for (const int64_t elements : {0, 1, 4, 5, 31, 1000}) {
      for (const int64_t segment : {1, 3, 64, 5000}) {
        const RingSchedule schedule(0, size, elements, segment);
        int64_t position = 0;
        for (int chunk = 0; chunk < size; ++chunk) {
          for (int64_t i = 0; i < schedule.num_segments(chunk); ++i) {
            const ElementRange range = schedule.segment(chunk, i);
            EXPECT_EQ(range.begin, position);
            EXPECT_GE(range.length, 1);
            EXPECT_LE(range.length, segment);
            position = range.end();
          }
          EXPECT_EQ(position, schedule.chunk(chunk).end());
        }
        EXPECT_EQ(position, elements);
      }
    }
  }
}

TEST(RingScheduleTest, AnEmptyChunkHasNoSegments) {
  const RingSchedule schedule(0, 4, 2, 8);
  EXPECT_EQ(schedule.num_segments(1), 1);
  EXPECT_EQ(schedule.num_segments(2), 0);
}

}  // namespace
}  // namespace ringside
