#include "allreduce/ring_schedule.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

constexpr int kMaxRanks = 9;

TEST(RingScheduleTest, OneRankHasNothingToDo) {
  const RingSchedule schedule(0, 1, 100, 10, 1);
  EXPECT_EQ(schedule.num_steps(), 0);
  EXPECT_EQ(schedule.elements_to_receive(), 0);
}

TEST(RingScheduleTest, IsThePictureInTheHeaderForThreeRanks) {
  const int sends[4][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {0, 1, 2}};
  for (int step = 0; step < 4; ++step) {
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(RingSchedule(rank, 3, 9, 3, 1).step(step).send_chunk, sends[step][rank]);
    }
  }
}

TEST(RingScheduleTest, WhatARankSendsIsWhatItsRightNeighbourReceives) {
  for (int size = 2; size <= kMaxRanks; ++size) {
    for (int rank = 0; rank < size; ++rank) {
      const RingSchedule own(rank, size, 100, 7, 1);
      const RingSchedule right((rank + 1) % size, size, 100, 7, 1);
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
      const RingSchedule schedule(rank, size, 100, 7, 1);
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
        const RingSchedule::Step plan = RingSchedule(rank, size, 1, 1, 1).step(step);
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
        const RingSchedule schedule(0, size, elements, segment, 1);
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

// A frame of a step, by what is in it.
std::string Frame(const RingSchedule& schedule, int step, int chunk, int64_t segment) {
  return absl::StrCat(step, ": ", schedule.segment(chunk, segment).begin);
}

// What a rank that runs the waves receives, and what it sends meanwhile, in order.
struct Frames {
  std::vector<std::string> received;
  std::vector<std::string> sent;
};

Frames RunWaves(const RingSchedule& schedule) {
  Frames frames;
  const auto send_own = [&](int64_t segment) {
    const int chunk = schedule.step(0).send_chunk;
    if (segment < schedule.num_segments(chunk)) {
      frames.sent.push_back(Frame(schedule, 0, chunk, segment));
    }
  };
  for (int64_t i = 0; i < schedule.lookahead(); ++i) send_own(i);
  for (int64_t wave = 0; wave < schedule.num_waves(); ++wave) {
    send_own(wave + schedule.lookahead());
    for (int step = 0; step < schedule.num_steps(); ++step) {
      const int64_t segment = schedule.segment_in_wave(wave, step);
      if (segment < 0) continue;
      const int chunk = schedule.step(step).receive_chunk;
      frames.received.push_back(Frame(schedule, step, chunk, segment));
      if (step + 1 < schedule.num_steps()) {
        frames.sent.push_back(Frame(schedule, step + 1, chunk, segment));
      }
    }
  }
  return frames;
}

TEST(RingScheduleTest, WavesSendInTheOrderInWhichTheRightNeighbourReceives) {
  for (int size = 2; size <= 6; ++size) {
    for (const int64_t elements : {0, 1, 5, 31, 100}) {
      for (const int64_t lookahead : {1, 2, 3, 1000}) {
        for (int rank = 0; rank < size; ++rank) {
          const RingSchedule own(rank, size, elements, 4, lookahead);
          const RingSchedule right((rank + 1) % size, size, elements, 4, lookahead);
          EXPECT_EQ(RunWaves(own).sent, RunWaves(right).received)
              << size << " ranks, " << elements << " elements, lookahead " << lookahead;
          int64_t all = 0;
          for (int step = 0; step < own.num_steps(); ++step) {
            all += own.num_segments(own.step(step).receive_chunk);
          }
          EXPECT_EQ(RunWaves(own).received.size(), all);
        }
      }
    }
  }
}

TEST(RingScheduleTest, ALookaheadOfAChunkIsStepAfterStep) {
  const RingSchedule schedule(0, 2, 16, 4, 1000);
  EXPECT_EQ(RunWaves(schedule).received,
            (std::vector<std::string>{"0: 8", "0: 12", "1: 0", "1: 4"}));
  EXPECT_EQ(RunWaves(RingSchedule(0, 2, 24, 4, 1)).received,
            (std::vector<std::string>{"0: 12", "0: 16", "1: 0", "0: 20", "1: 4", "1: 8"}));
}

TEST(RingScheduleTest, AnEmptyChunkHasNoSegments) {
  const RingSchedule schedule(0, 4, 2, 8, 1);
  EXPECT_EQ(schedule.num_segments(1), 1);
  EXPECT_EQ(schedule.num_segments(2), 0);
}

}  // namespace
}  // namespace ringside
