#include "allreduce/baselines/gloo/gloo_all_reducer.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/mutex.h"
#include "tests/allreduce/all_reducer_suite.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

// What a parent process does for its ranks: threads meet here and leave with all entries.
class MeetingPoint {
 public:
  explicit MeetingPoint(int ranks) : ranks_(ranks) {}

  AddressExchange For(int rank) {
    return [this, rank, round = 0](const std::string& mine) mutable {
      return Exchange(rank, round++, mine);
    };
  }

 private:
  absl::StatusOr<std::vector<std::string>> Exchange(int rank, int round, const std::string& mine) {
    const absl::Time deadline = absl::Now() + kPatience;
    MutexLock lock(&mutex_);
    std::map<int, std::string>& entries = rounds_[round];
    entries[rank] = mine;
    changed_.NotifyAll();
    while (static_cast<int>(entries.size()) < ranks_) {
      if (!changed_.WaitUntil(&mutex_, deadline)) return absl::DeadlineExceededError("alone");
    }
    std::vector<std::string> all;
    for (const auto& [each, entry] : entries) all.push_back(entry);
    return all;
  }

  const int ranks_;
  Mutex mutex_;
  CondVar changed_;
  std::map<int, std::map<int, std::string>> rounds_ ABSL_GUARDED_BY(mutex_);
};

using Reducers = std::vector<std::unique_ptr<AllReducer>>;

absl::StatusOr<Reducers> MakeGloo(GlooAllReducer::Kind kind, int ranks, absl::Duration timeout,
                                  const std::vector<absl::Span<float>>& registered = {}) {
  MeetingPoint meeting(ranks);
  Reducers reducers(ranks);
  for (const absl::Status& status : RunRanks(ranks, [&](int rank) {
         GlooAllReducer::Config config;
         config.kind = kind;
         config.rank = rank;
         config.size = ranks;
         config.timeout = timeout;
         config.exchange = meeting.For(rank);
         if (!registered.empty()) config.registered = registered[rank];
         auto made = GlooAllReducer::Create(config);
         if (!made.ok()) return made.status();
         reducers[rank] = *std::move(made);
         return absl::OkStatus();
       })) {
    if (!status.ok()) return status;
  }
  return reducers;
}

AllReducerCase Case(const std::string& name, GlooAllReducer::Kind kind) {
  AllReducerCase gloo;
  gloo.name = name;
  // Aborting a wait takes effect when Gloo's own timeout is over, so that is short here.
  gloo.make = [kind](int ranks) { return MakeGloo(kind, ranks, absl::Seconds(3)); };
  gloo.segment_elements = 256;
  gloo.bitwise = false;
  gloo.ranks_agree = kind != GlooAllReducer::Kind::kRing;
  return gloo;
}

INSTANTIATE_TEST_SUITE_P(Gloo, AllReducerSuite,
                         testing::Values(Case("Ring", GlooAllReducer::Kind::kRing),
                                         Case("RingChunked", GlooAllReducer::Kind::kRingChunked)),
                         AllReducerCaseName);

TEST(GlooBcubeTest, SumsExactlyWithEvenNumbersOfRanks) {
  for (const int ranks : {1, 2, 4}) {
    auto reducers = MakeGloo(GlooAllReducer::Kind::kBcube, ranks, kPatience);
    ASSERT_TRUE(reducers.ok()) << reducers.status();
    uint64_t step = 0;
    // Bcube exchanges more elements than there are where a vector is shorter than the group.
    for (const int length : {0, 1, 3, 4, 31, 1000}) {
      ++step;
      std::vector<std::vector<float>> sums(ranks, std::vector<float>(length, -1));
      const std::vector<absl::Status> statuses = RunRanks(ranks, [&](int rank) {
        std::vector<float> in(length, static_cast<float>(rank + 1));
        return (*reducers)[rank]->Sum({step, 0}, in, absl::MakeSpan(sums[rank]));
      });
      const auto expected = static_cast<float>(ranks * (ranks + 1) / 2);
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_TRUE(statuses[rank].ok()) << statuses[rank];
        EXPECT_EQ(sums[rank], std::vector<float>(length, expected)) << ranks << " ranks";
      }
    }
  }
}

// Gloo's own object, run again and again, mixes up two runs now and then.
TEST(GlooBcubeTest, SumsInARowDoNotMix) {
  constexpr int kRanks = 4;
  constexpr int kSteps = 500;
  auto reducers = MakeGloo(GlooAllReducer::Kind::kBcube, kRanks, kPatience);
  ASSERT_TRUE(reducers.ok()) << reducers.status();
  for (const absl::Status& status : RunRanks(kRanks, [&](int rank) {
         for (int step = 1; step <= kSteps; ++step) {
           std::vector<float> buffer(5, static_cast<float>(step));
           const absl::Status sum = (*reducers)[rank]->Sum({static_cast<uint64_t>(step), 0}, buffer,
                                                           absl::MakeSpan(buffer));
           if (!sum.ok()) return sum;
           if (buffer != std::vector<float>(5, static_cast<float>(kRanks * step))) {
             return absl::DataLossError(absl::StrCat("wrong in step ", step));
           }
         }
         return absl::OkStatus();
       })) {
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(GlooBcubeTest, RefusesAnOddNumberOfRanks) {
  const auto reducers = MakeGloo(GlooAllReducer::Kind::kBcube, 3, kPatience);
  EXPECT_EQ(reducers.status(),
            absl::InvalidArgumentError("Gloo's bcube needs an even number of ranks, not 3"));
}

TEST(GlooAllReducerTest, SumsWithinARegisteredBuffer) {
  constexpr int kRanks = 2;
  std::vector<std::vector<float>> buffers(kRanks, std::vector<float>(100));
  auto reducers = MakeGloo(GlooAllReducer::Kind::kRing, kRanks, kPatience,
                           {absl::MakeSpan(buffers[0]), absl::MakeSpan(buffers[1])});
  ASSERT_TRUE(reducers.ok()) << reducers.status();
  for (uint64_t step = 1; step <= 3; ++step) {
    for (const absl::Status& status : RunRanks(kRanks, [&](int rank) {
           // In place from the second step on; the first one brings its numbers from elsewhere.
           const absl::Span<float> part = absl::MakeSpan(buffers[rank]).subspan(10, 50);
           const std::vector<float> elsewhere(part.size(), static_cast<float>(rank + 1));
           if (step == 1) return (*reducers)[rank]->Sum({step, 0}, elsewhere, part);
           return (*reducers)[rank]->Sum({step, 0}, part, part);
         })) {
      EXPECT_TRUE(status.ok()) << status;
    }
  }
  for (const std::vector<float>& buffer : buffers) {
    EXPECT_EQ(buffer[9], 0);
    EXPECT_EQ(buffer[10], 12);  // (1 + 2) * 2 * 2
    EXPECT_EQ(buffer[59], 12);
    EXPECT_EQ(buffer[60], 0);
  }
}

TEST(GlooAllReducerTest, APeerThatIsGoneIsAnError) {
  constexpr int kRanks = 2;
  auto reducers = MakeGloo(GlooAllReducer::Kind::kRing, kRanks, kPatience);
  ASSERT_TRUE(reducers.ok()) << reducers.status();
  (*reducers)[1].reset();
  std::vector<float> buffer(1000, 1);
  const absl::Status status = (*reducers)[0]->Sum({1, 0}, buffer, absl::MakeSpan(buffer));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_EQ((*reducers)[0]->Sum({2, 0}, buffer, absl::MakeSpan(buffer)), status);
}

TEST(GlooAllReducerTest, AnExchangeThatFailsIsTheError) {
  GlooAllReducer::Config config;
  config.size = 2;
  config.exchange = [](const std::string&) -> absl::StatusOr<std::vector<std::string>> {
    return absl::AbortedError("the others are gone");
  };
  const auto reducer = GlooAllReducer::Create(config);
  EXPECT_EQ(reducer.status(), absl::UnavailableError("Gloo: the others are gone"));
}

}  // namespace
}  // namespace ringside
