#include "allreduce/ring_traffic.h"

#include <gtest/gtest.h>

#include <vector>

#include "allreduce/ring_schedule.h"
#include "common/frame_codec.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {
namespace {

// Counted along the schedule, segment by segment.
TrafficCounters Counted(int64_t elements, int size, int index, int64_t segment) {
  const RingSchedule schedule(index, size, elements, segment, 1);
  TrafficCounters sum;
  for (int step = 0; step < schedule.num_steps(); ++step) {
    const int sent = schedule.step(step).send_chunk;
    for (int64_t i = 0; i < schedule.num_segments(sent); ++i) {
      sum += {4 * schedule.segment(sent, i).length,    0, 1, 0,
              static_cast<int64_t>(kFrameHeaderBytes), 0};
    }
    const int received = schedule.step(step).receive_chunk;
    for (int64_t i = 0; i < schedule.num_segments(received); ++i) {
      sum += {0, 4 * schedule.segment(received, i).length, 0, 1,
              0, static_cast<int64_t>(kFrameHeaderBytes)};
    }
  }
  return sum;
}

TEST(RingTrafficTest, FormulaIsWhatTheScheduleCounts) {
  for (int size = 1; size <= 6; ++size) {
    for (int index = 0; index < size; ++index) {
      for (const int64_t elements : {0, 1, 2, 5, 7, 31, 64, 1000}) {
        for (const int64_t segment : {1, 4, 13, 2000}) {
          EXPECT_EQ(RingTraffic({elements}, size, index, segment),
                    Counted(elements, size, index, segment))
              << size << " ranks, index " << index << ", " << elements << " elements, segments of "
              << segment;
        }
      }
    }
  }
}

TEST(RingTrafficTest, AddsBuckets) {
  TrafficCounters sum = Counted(1000, 3, 1, 100);
  sum += Counted(7, 3, 1, 100);
  EXPECT_EQ(RingTraffic({1000, 7}, 3, 1, 100), sum);
}

TEST(RingTrafficTest, NamesExactValues) {
  // 8 elements on 4 ranks: chunks of 2; 2 * 8 - 2 - 2 = 12 elements in 6 messages.
  EXPECT_EQ(RingTraffic({8}, 4, 0, 100), (TrafficCounters{48, 48, 6, 6, 384, 384}));
}

TEST(RingTrafficTest, SixteenBitValuesAreHalfTheBytesInAsManyMessages) {
  EXPECT_EQ(RingTraffic({8}, 4, 0, 100, WireDtype::kBFloat16),
            (TrafficCounters{24, 24, 6, 6, 384, 384}));
  EXPECT_EQ(RingTraffic({8}, 4, 0, 100) * 3, (TrafficCounters{144, 144, 18, 18, 1152, 1152}));
}

TEST(RingTrafficTest, FormulaIsWhatARealRingCounts) {
  constexpr int64_t kSegmentBytes = 64;
  for (int ranks = 1; ranks <= 4; ++ranks) {
    auto reducers = MakeRingReducers(ranks, kSegmentBytes);
    ASSERT_TRUE(reducers.ok()) << reducers.status();
    const std::vector<int64_t> lengths = {1001, 0, 1, 77};
    const std::vector<absl::Status> statuses = RunRanks(ranks, [&](int rank) {
      for (size_t bucket = 0; bucket < lengths.size(); ++bucket) {
        std::vector<float> buffer(lengths[bucket], 1);
        const absl::Status status = (*reducers)[rank]->Sum({1, static_cast<uint32_t>(bucket)},
                                                           buffer, absl::MakeSpan(buffer));
        if (!status.ok()) return status;
      }
      return absl::OkStatus();
    });
    for (int rank = 0; rank < ranks; ++rank) {
      ASSERT_TRUE(statuses[rank].ok()) << statuses[rank];
      EXPECT_EQ((*reducers)[rank]->traffic(), RingTraffic(lengths, ranks, rank, kSegmentBytes / 4))
          << "rank " << rank;
    }
  }
}

}  // namespace
}  // namespace ringside
