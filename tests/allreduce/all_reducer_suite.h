// What every AllReducer must pass. An implementation instantiates it with a factory:
//   INSTANTIATE_TEST_SUITE_P(Ring, AllReducerSuite, testing::Values(AllReducerCase{"Tcp", make,
//   16}), AllReducerCaseName);
#ifndef RINGSIDE_TESTS_ALLREDUCE_ALL_REDUCER_SUITE_H_
#define RINGSIDE_TESTS_ALLREDUCE_ALL_REDUCER_SUITE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "allreduce/all_reducer.h"
#include "common/reduction.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {

struct AllReducerCase {
  std::string name;
  // Connected reducers for all ranks of an in-process cluster.
  std::function<absl::StatusOr<std::vector<std::unique_ptr<AllReducer>>>(int ranks)> make;
  // The implementation's unit; lengths above it are tried.
  int64_t segment_elements;
  // Whether it folds in law order, so that results are bitwise those of FoldInLawOrder.
  bool bitwise = true;
};

inline std::string AllReducerCaseName(const testing::TestParamInfo<AllReducerCase>& info) {
  return info.param.name;
}

class AllReducerSuite : public testing::TestWithParam<AllReducerCase> {
 protected:
  using Buffers = std::vector<std::vector<float>>;
  static constexpr int kMaxRanks = 5;

  void Connect(int ranks) {
    auto reducers = GetParam().make(ranks);
    ASSERT_TRUE(reducers.ok()) << reducers.status();
    reducers_ = *std::move(reducers);
  }

  // Lengths 0, 1, a prime, about the number of ranks, and above a segment and a chunk of several
  // segments.
  std::vector<int64_t> Lengths(int ranks) const {
    const int64_t segment = GetParam().segment_elements;
    return {0, 1, ranks - 1, ranks, ranks + 1, 31, segment + 1, 3 * ranks * segment + 7};
  }

  static Buffers ExactIntegers(int ranks, int64_t length) {
    Buffers buffers(ranks, std::vector<float>(length));
    for (int rank = 0; rank < ranks; ++rank) {
      for (int64_t i = 0; i < length; ++i) {
        buffers[rank][i] = static_cast<float>((rank + 1) * 1000 + i % 997);
      }
    }
    return buffers;
  }

  // Of very different magnitudes, so that every order of adding rounds differently; some -0.0 and
  // denormals.
  static Buffers RoughFloats(int ranks, int64_t length, int seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> mantissa(-1, 1);
    std::uniform_int_distribution<int> exponent(-12, 12);
    Buffers buffers(ranks, std::vector<float>(length));
    for (std::vector<float>& buffer : buffers) {
      for (int64_t i = 0; i < length; ++i) {
        buffer[i] = std::ldexp(mantissa(random), exponent(random));
        if (i % 11 == 3) buffer[i] = -0.0f;
        if (i % 13 == 5)
          buffer[i] = std::numeric_limits<float>::denorm_min() * static_cast<float>(i);
      }
    }
    return buffers;
  }

  static std::vector<float> Fold(const Buffers& buffers) {
    std::vector<float> sum(buffers[0].size());
    FoldInLawOrder({buffers.begin(), buffers.end()}, absl::MakeSpan(sum));
    return sum;
  }

  static bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
  }

  void ExpectAllOk(const std::function<absl::Status(int)>& body) {
    const std::vector<absl::Status> statuses = RunRanks(static_cast<int>(reducers_.size()), body);
    for (size_t rank = 0; rank < statuses.size(); ++rank) {
      EXPECT_TRUE(statuses[rank].ok()) << "rank " << rank << ": " << statuses[rank];
    }
  }

  std::vector<std::unique_ptr<AllReducer>> reducers_;
};

TEST_P(AllReducerSuite, SumsIntegersExactlyAndLeavesTheInputIntact) {
  for (int ranks = 1; ranks <= kMaxRanks; ++ranks) {
    ASSERT_NO_FATAL_FAILURE(Connect(ranks));
    uint64_t step = 1;
    for (const int64_t length : Lengths(ranks)) {
      const Buffers in = ExactIntegers(ranks, length);
      const Buffers original = in;
      Buffers out(ranks, std::vector<float>(length, -1));
      ExpectAllOk([&](int rank) {
        return reducers_[rank]->Sum({step, 0}, in[rank], absl::MakeSpan(out[rank]));
      });
      ++step;
      EXPECT_EQ(in, original);
      for (int64_t i = 0; i < length; ++i) {
        const auto expected = static_cast<float>(500 * ranks * (ranks + 1) + ranks * (i % 997));
        for (int rank = 0; rank < ranks; ++rank) {
          ASSERT_EQ(out[rank][i], expected)
              << "rank " << rank << " of " << ranks << ", element " << i << " of " << length;
        }
      }
    }
  }
}

TEST_P(AllReducerSuite, FoldsInLawOrderToTheBit) {
  if (!GetParam().bitwise) GTEST_SKIP() << GetParam().name << " adds in an order of its own";
  for (int ranks = 1; ranks <= kMaxRanks; ++ranks) {
    ASSERT_NO_FATAL_FAILURE(Connect(ranks));
    uint64_t step = 1;
    for (const int64_t length : Lengths(ranks)) {
      const Buffers in = RoughFloats(ranks, length, static_cast<int>(length) + ranks);
      Buffers out(ranks, std::vector<float>(length));
      ExpectAllOk([&](int rank) {
        return reducers_[rank]->Sum({step, 0}, in[rank], absl::MakeSpan(out[rank]));
      });
      ++step;
      const std::vector<float> expected = Fold(in);
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_TRUE(SameBits(out[rank], expected))
            << "rank " << rank << " of " << ranks << ", length " << length;
      }
    }
  }
}

TEST_P(AllReducerSuite, SumsInPlace) {
  for (int ranks = 1; ranks <= kMaxRanks; ++ranks) {
    ASSERT_NO_FATAL_FAILURE(Connect(ranks));
    uint64_t step = 1;
    for (const int64_t length : Lengths(ranks)) {
      Buffers buffers = RoughFloats(ranks, length, ranks);
      const std::vector<float> expected = Fold(buffers);
      ExpectAllOk([&](int rank) {
        return reducers_[rank]->Sum({step, 0}, buffers[rank], absl::MakeSpan(buffers[rank]));
      });
      ++step;
      for (int rank = 0; rank < ranks; ++rank) {
        if (GetParam().bitwise) {
          EXPECT_TRUE(SameBits(buffers[rank], expected))
              << "rank " << rank << " of " << ranks << ", length " << length;
        }
        EXPECT_TRUE(SameBits(buffers[rank], buffers[0]));
      }
    }
  }
}

TEST_P(AllReducerSuite, SumsManyBucketsInARowWithoutMeetingBetweenThem) {
  constexpr int kSteps = 10;
  constexpr int kBuckets = 3;
  const int64_t length = 2 * GetParam().segment_elements + 5;
  for (int ranks = 2; ranks <= kMaxRanks; ++ranks) {
    ASSERT_NO_FATAL_FAILURE(Connect(ranks));
    const Buffers in = ExactIntegers(ranks, length);
    const std::vector<float> expected = Fold(in);
    ExpectAllOk([&](int rank) {
      std::vector<float> out(length);
      for (uint64_t step = 1; step <= kSteps; ++step) {
        for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
          const absl::Status status =
              reducers_[rank]->Sum({step, bucket}, in[rank], absl::MakeSpan(out));
          if (!status.ok()) return status;
          if (out != expected) return absl::InternalError("wrong sum");
        }
      }
      return absl::OkStatus();
    });
  }
}

TEST_P(AllReducerSuite, CarriesInfinitiesAndNans) {
  constexpr int kRanks = 3;
  ASSERT_NO_FATAL_FAILURE(Connect(kRanks));
  Buffers in = ExactIntegers(kRanks, 4);
  in[1][0] = std::numeric_limits<float>::infinity();
  in[2][1] = std::numeric_limits<float>::quiet_NaN();
  Buffers out(kRanks, std::vector<float>(4));
  ExpectAllOk([&](int rank) {
    return reducers_[rank]->Sum({1, 0}, in[rank], absl::MakeSpan(out[rank]));
  });
  for (const std::vector<float>& sum : out) {
    EXPECT_EQ(sum[0], std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(sum[1]));
    EXPECT_EQ(sum[2], in[0][2] + in[1][2] + in[2][2]);
  }
}

TEST_P(AllReducerSuite, AbortWakesAWaitingSumAndIsSticky) {
  constexpr int kRanks = 2;
  ASSERT_NO_FATAL_FAILURE(Connect(kRanks));
  std::vector<float> buffer(100, 1);
  // Rank 1 never comes: rank 0 waits until it is told to stop.
  const std::vector<absl::Status> statuses = RunRanks(kRanks, [&](int rank) {
    if (rank == 0) return reducers_[0]->Sum({1, 0}, buffer, absl::MakeSpan(buffer));
    reducers_[0]->Abort(absl::CancelledError("worker 7 is lost"));
    return absl::OkStatus();
  });
  EXPECT_EQ(statuses[0], absl::CancelledError("worker 7 is lost"));
  EXPECT_EQ(reducers_[0]->Sum({2, 0}, buffer, absl::MakeSpan(buffer)),
            absl::CancelledError("worker 7 is lost"));
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_ALLREDUCE_ALL_REDUCER_SUITE_H_
