// What every AllReducer must pass. An implementation instantiates it with a factory:
//   INSTANTIATE_TEST_SUITE_P(Ring, AllReducerSuite,
//                            testing::Values(AllReducerCase{"Tcp", make, 16}), AllReducerCaseName);
#ifndef RINGSIDE_TESTS_ALLREDUCE_ALL_REDUCER_SUITE_H_
#define RINGSIDE_TESTS_ALLREDUCE_ALL_REDUCER_SUITE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
#include "common/arena.h"
#include "common/frame_codec.h"
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
  WireDtype wire_dtype = WireDtype::kFloat32;
  // Where set, used in place of `make`: arenas[r] are the ones in which all buffers of rank r lie.
  std::function<absl::StatusOr<std::vector<std::unique_ptr<AllReducer>>>(
      int ranks, const std::vector<std::vector<const Arena*>>& arenas)>
      make_with_arenas = nullptr;
  // Whether all ranks get the same bits; in Gloo's ring each adds in an order of its own.
  bool ranks_agree = true;
};

inline std::string AllReducerCaseName(const testing::TestParamInfo<AllReducerCase>& info) {
  return info.param.name;
}

class AllReducerSuite : public testing::TestWithParam<AllReducerCase> {
 protected:
  using Buffers = std::vector<std::vector<float>>;
  static constexpr int kMaxRanks = 8;

  void Connect(int ranks) {
    reducers_.clear();
    arenas_.clear();
    std::vector<std::vector<const Arena*>> known(ranks);
    for (int i = 0; i < 2 * ranks; ++i) {
      const int64_t longest = 3 * ranks * GetParam().segment_elements + 100;
      auto arena = Arena::Create(longest, Arena::Placement::kShared);
      ASSERT_TRUE(arena.ok()) << arena.status();
      known[i / 2].push_back(arena->get());
      arenas_.push_back(*std::move(arena));
    }
    auto reducers = GetParam().make_with_arenas != nullptr
                        ? GetParam().make_with_arenas(ranks, known)
                        : GetParam().make(ranks);
    ASSERT_TRUE(reducers.ok()) << reducers.status();
    reducers_ = *std::move(reducers);
  }

  absl::Span<float> In(int rank, int64_t length) {
    return arenas_[2 * rank]->span().subspan(0, length);
  }
  absl::Span<float> Out(int rank, int64_t length) {
    return arenas_[2 * rank + 1]->span().subspan(0, length);
  }

  // Sums in[r] of all ranks r, from one arena into another, or in place. Expects that inputs stay
  // as they are.
  Buffers SumAll(CollectiveId id, const Buffers& in, bool in_place = false) {
    const auto length = static_cast<int64_t>(in[0].size());
    Buffers out(in.size());
    ExpectAllOk([&](int rank) {
      std::copy(in[rank].begin(), in[rank].end(), In(rank, length).begin());
      const absl::Span<float> sum = in_place ? In(rank, length) : Out(rank, length);
      const absl::Status status = reducers_[rank]->Sum(id, In(rank, length), sum);
      out[rank].assign(sum.begin(), sum.end());
      if (!in_place && !SameBits(in[rank], {In(rank, length).begin(), In(rank, length).end()})) {
        return absl::InternalError("the input has changed");
      }
      return status;
    });
    return out;
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
    FoldInLawOrder(GetParam().wire_dtype, {buffers.begin(), buffers.end()}, absl::MakeSpan(sum));
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

  std::vector<std::unique_ptr<Arena>> arenas_;  // two a rank: what it sums, and the sums
  std::vector<std::unique_ptr<AllReducer>> reducers_;
};

TEST_P(AllReducerSuite, SumsIntegersExactlyAndLeavesTheInputIntact) {
  if (GetParam().wire_dtype != WireDtype::kFloat32) GTEST_SKIP() << "16-bit values are rounded";
  for (int ranks = 1; ranks <= kMaxRanks; ++ranks) {
    ASSERT_NO_FATAL_FAILURE(Connect(ranks));
    uint64_t step = 1;
    for (const int64_t length : Lengths(ranks)) {
      const Buffers out = SumAll({step++, 0}, ExactIntegers(ranks, length));
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
      const Buffers out = SumAll({step++, 0}, in);
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
      const Buffers in = RoughFloats(ranks, length, ranks);
      const Buffers out = SumAll({step++, 0}, in, /*in_place=*/true);
      const std::vector<float> expected = Fold(in);
      for (int rank = 0; rank < ranks; ++rank) {
        if (GetParam().bitwise) {
          EXPECT_TRUE(SameBits(out[rank], expected))
              << "rank " << rank << " of " << ranks << ", length " << length;
        }
        EXPECT_TRUE(!GetParam().ranks_agree || SameBits(out[rank], out[0]));
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
      std::copy(in[rank].begin(), in[rank].end(), In(rank, length).begin());
      const absl::Span<float> out = Out(rank, length);
      for (uint64_t step = 1; step <= kSteps; ++step) {
        for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
          const absl::Status status = reducers_[rank]->Sum({step, bucket}, In(rank, length), out);
          if (!status.ok()) return status;
          if (out != absl::MakeConstSpan(expected)) return absl::InternalError("wrong sum");
          std::fill(out.begin(), out.end(), -1);
        }
      }
      return absl::OkStatus();
    });
  }
}

// Short and long sums in turn, so that what one kind leaves behind cannot disturb the other.
TEST_P(AllReducerSuite, SumsOfAllLengthsFollowEachOther) {
  for (const int ranks : {2, 3, 4}) {
    ASSERT_NO_FATAL_FAILURE(Connect(ranks));
    uint64_t step = 1;
    for (int round = 0; round < 3; ++round) {
      for (const int64_t length : Lengths(ranks)) {
        const Buffers in = RoughFloats(ranks, length, static_cast<int>(step));
        const Buffers out = SumAll({step++, 0}, in);
        if (!GetParam().bitwise) continue;
        EXPECT_TRUE(SameBits(out[ranks - 1], Fold(in))) << length;
      }
    }
  }
}

TEST_P(AllReducerSuite, CarriesInfinitiesAndNans) {
  constexpr int kRanks = 3;
  ASSERT_NO_FATAL_FAILURE(Connect(kRanks));
  Buffers in = ExactIntegers(kRanks, 4);
  in[1][0] = std::numeric_limits<float>::infinity();
  in[2][1] = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<float>& sum : SumAll({1, 0}, in)) {
    EXPECT_EQ(sum[0], std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(sum[1]));
    EXPECT_EQ(sum[2], Fold(in)[2]);
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
