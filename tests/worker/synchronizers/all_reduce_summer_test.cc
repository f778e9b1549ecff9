#include "worker/synchronizers/all_reduce_summer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

#include "allreduce/ring_traffic.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/reduction.h"
#include "common/suspects.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {
namespace {

using testing::HasSubstr;

constexpr int64_t kSegmentBytes = 64;

// Buckets of 10, 100 and 1000 elements.
BucketPlan Plan() {
  const auto plan = BucketPlan::Create({{"a", {1000}}, {"b", {100}}, {"c", {10}}}, 4, 4);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *plan;
}

std::unique_ptr<Arena> MakeArena(int64_t elements) {
  return *Arena::Create(elements, Arena::Placement::kHeap);
}

std::unique_ptr<AllReduceSummer> Summer(int ranks, int rank, std::unique_ptr<AllReducer> reducer,
                                        absl::Duration step_timeout = absl::Seconds(30)) {
  AllReduceSummer::Config config{
      Group::World(ranks, rank, 3),
      Plan(),
      std::move(reducer),
      MakeArena(Plan().total_elements()),
      step_timeout,
      [ranks, rank](int64_t exchanges) {
        return RingTraffic(Plan().lengths(), ranks, rank, kSegmentBytes / 4) * exchanges;
      }};
  auto summer = AllReduceSummer::Create(std::move(config));
  EXPECT_TRUE(summer.ok()) << summer.status();
  return *std::move(summer);
}

TEST(AllReduceSummerTest, TracesTheSumsOfTheWindow) {
  TraceBuffer buffer({2, 2}, 100);
  auto reducers = MakeRingReducers(1, kSegmentBytes);
  ASSERT_TRUE(reducers.ok()) << reducers.status();
  AllReduceSummer::Config config{
      Group::World(1, 0, 3),     Plan(),
      std::move((*reducers)[0]), MakeArena(Plan().total_elements()),
      absl::Seconds(60),         [](int64_t) { return TrafficCounters(); }};
  config.trace = &buffer;
  const auto summer = AllReduceSummer::Create(std::move(config));
  ASSERT_TRUE(summer.ok()) << summer.status();
  const std::vector<float> gradients(Plan().total_elements(), 1);
  for (int64_t step = 1; step <= 3; ++step) {
    for (int bucket = 0; bucket < Plan().size(); ++bucket) {
      const ElementRange range = Plan().bucket(bucket);
      (*summer)->Submit(
          {step, 0, bucket, absl::MakeConstSpan(gradients).subspan(range.begin, range.length), 1});
    }
    ASSERT_TRUE((*summer)->Finish(step).ok());
  }
  ProcessTrace trace;
  buffer.AppendTo(&trace);
  ASSERT_EQ(trace.spans_size(), Plan().size());
  for (int bucket = 0; bucket < trace.spans_size(); ++bucket) {
    EXPECT_EQ(trace.spans(bucket).kind(), TRACE_SUM);
    EXPECT_EQ(trace.spans(bucket).step(), 2);
    EXPECT_EQ(trace.spans(bucket).bucket(), bucket);
  }
}

std::vector<std::unique_ptr<AllReduceSummer>> RingSummers(int ranks) {
  auto reducers = MakeRingReducers(ranks, kSegmentBytes);
  EXPECT_TRUE(reducers.ok()) << reducers.status();
  std::vector<std::unique_ptr<AllReduceSummer>> summers;
  for (int rank = 0; rank < ranks; ++rank)
    summers.push_back(Summer(ranks, rank, std::move((*reducers)[rank])));
  return summers;
}

std::vector<float> Gradients(int rank, int64_t step) {
  std::vector<float> gradients(Plan().total_elements());
  for (size_t i = 0; i < gradients.size(); ++i) {
    gradients[i] = 0.1f * static_cast<float>(i + 1) * static_cast<float>(rank + 1) +
                   1e-3f * static_cast<float>(step);
  }
  return gradients;
}

void SubmitBucket(GradientSummer* summer, int rank, int64_t step, int bucket,
                  const std::vector<float>& gradients, bool after_backward = false) {
  const BucketPlan plan = Plan();
  const ElementRange range = plan.bucket(bucket);
  summer->Submit({step, rank, bucket,
                  absl::MakeConstSpan(gradients).subspan(range.begin, range.length), 1,
                  after_backward});
}

void SubmitAll(GradientSummer* summer, int rank, int64_t step, const std::vector<float>& gradients,
               bool after_backward = false) {
  for (int bucket = 0; bucket < Plan().size(); ++bucket)
    SubmitBucket(summer, rank, step, bucket, gradients, after_backward);
}

std::vector<float> ExpectedSums(int ranks, int64_t step) {
  std::vector<std::vector<float>> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(Gradients(rank, step));
  const BucketPlan plan = Plan();
  std::vector<float> sums(plan.total_elements());
  for (int bucket = 0; bucket < plan.size(); ++bucket) {
    const ElementRange range = plan.bucket(bucket);
    std::vector<absl::Span<const float>> parts;
    for (const std::vector<float>& gradients : all) {
      parts.push_back(absl::MakeConstSpan(gradients).subspan(range.begin, range.length));
    }
    FoldInLawOrder(parts, absl::MakeSpan(sums).subspan(range.begin, range.length));
  }
  return sums;
}

TEST(AllReduceSummerTest, SumsEveryStepInLawOrderAndCountsItsTraffic) {
  constexpr int kSteps = 5;
  for (int ranks = 1; ranks <= 4; ++ranks) {
    const auto summers = RingSummers(ranks);
    const std::vector<absl::Status> statuses = RunRanks(ranks, [&](int rank) {
      for (int64_t step = 0; step < kSteps; ++step) {
        const std::vector<float> gradients = Gradients(rank, step);
        SubmitAll(summers[rank].get(), rank, step, gradients);
        const auto sums = summers[rank]->Finish(step);
        if (!sums.ok()) return sums.status();
        if (*sums != absl::MakeConstSpan(ExpectedSums(ranks, step)))
          return absl::InternalError("wrong sums");
      }
      return summers[rank]->Shutdown();
    });
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(statuses[rank].ok()) << statuses[rank];
      EXPECT_EQ(summers[rank]->traffic(), summers[rank]->ExpectedTraffic(kSteps));
      EXPECT_EQ(summers[rank]->traffic().messages_sent > 0, ranks > 1);
    }
  }
}

// Returns from Sum only when told to, or when aborted.
class GatedReducer final : public AllReducer {
 public:
  absl::Status Sum(CollectiveId id, absl::Span<const float> in, absl::Span<float> out) override {
    MutexLock lock(&mutex_);
    ids.push_back(id.bucket);
    changed_.NotifyAll();
    while (open_ == 0 && status_.ok()) changed_.Wait(&mutex_);
    if (!status_.ok()) return status_;
    --open_;
    std::copy(in.begin(), in.end(), out.begin());
    return absl::OkStatus();
  }
  void Abort(absl::Status cause) override {
    MutexLock lock(&mutex_);
    if (status_.ok()) status_ = std::move(cause);
    changed_.NotifyAll();
  }
  TrafficCounters traffic() const override { return {}; }

  void Open(int sums) {
    MutexLock lock(&mutex_);
    open_ += sums;
    changed_.NotifyAll();
  }
  void WaitForCalls(size_t calls) {
    MutexLock lock(&mutex_);
    while (ids.size() < calls) changed_.Wait(&mutex_);
  }

  std::vector<uint32_t> ids ABSL_GUARDED_BY(mutex_);

 private:
  Mutex mutex_;
  CondVar changed_;
  int open_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

class GatedSummerTest : public testing::Test {
 protected:
  void Start(absl::Duration step_timeout = absl::Seconds(30)) {
    auto reducer = std::make_unique<GatedReducer>();
    reducer_ = reducer.get();
    summer_ = Summer(1, 0, std::move(reducer), step_timeout);
  }
  const std::vector<float> gradients_ = Gradients(0, 1);
  GatedReducer* reducer_ = nullptr;
  std::unique_ptr<AllReduceSummer> summer_;
};

TEST_F(GatedSummerTest, SubmitDoesNotBlockWhileASumRuns) {
  Start();
  SubmitAll(summer_.get(), 0, 1, gradients_);  // with the gate shut
  reducer_->WaitForCalls(1);
  reducer_->Open(3);
  const auto sums = summer_->Finish(1);
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_EQ(*sums, absl::MakeConstSpan(gradients_));
}

TEST_F(GatedSummerTest, ABucketIsSummedBeforeTheNextIsSubmitted) {
  Start();
  reducer_->Open(3);
  for (int bucket = 0; bucket < 3; ++bucket) {
    SubmitBucket(summer_.get(), 0, 1, bucket, gradients_);
    reducer_->WaitForCalls(static_cast<size_t>(bucket) + 1);
  }
  EXPECT_TRUE(summer_->Finish(1).ok());
}

TEST_F(GatedSummerTest, CommunicationBeforeFinishIsHidden) {
  Start();
  const absl::Time begin = MonotonicNow();
  SubmitBucket(summer_.get(), 0, 1, 0, gradients_);
  const absl::Time submitted = MonotonicNow();
  reducer_->WaitForCalls(1);
  const absl::Time opened = MonotonicNow();
  reducer_->Open(3);
  SubmitBucket(summer_.get(), 0, 1, 1, gradients_);
  SubmitBucket(summer_.get(), 0, 1, 2, gradients_);
  ASSERT_TRUE(summer_->Finish(1).ok());
  const absl::Duration all = MonotonicNow() - begin;
  const CommunicationTimes times = summer_->communication();
  EXPECT_GE(times.hidden, opened - submitted);
  EXPECT_LE(times.hidden + times.exposed, all);
}

TEST_F(GatedSummerTest, CommunicationAfterBackwardIsExposed) {
  Start();
  SubmitAll(summer_.get(), 0, 1, gradients_, /*after_backward=*/true);
  const absl::Time submitted = MonotonicNow();
  reducer_->WaitForCalls(1);
  const absl::Time opened = MonotonicNow();
  reducer_->Open(3);
  ASSERT_TRUE(summer_->Finish(1).ok());
  EXPECT_EQ(summer_->communication().hidden, absl::ZeroDuration());
  EXPECT_GE(summer_->communication().exposed, opened - submitted);
}

TEST_F(GatedSummerTest, AbortWakesFinishAndIsSticky) {
  Start();
  SubmitAll(summer_.get(), 0, 1, gradients_);
  const absl::Status cause = absl::UnavailableError("worker 3 is lost");
  std::thread thread([&] {
    reducer_->WaitForCalls(1);
    summer_->Abort(cause);
  });
  EXPECT_EQ(summer_->Finish(1).status(), cause);
  thread.join();
  SubmitAll(summer_.get(), 0, 2, gradients_);
  EXPECT_EQ(summer_->Finish(2).status(), cause);
  EXPECT_EQ(summer_->Shutdown(), cause);
}

TEST_F(GatedSummerTest, DestructorEndsARunningSum) {
  Start();
  SubmitAll(summer_.get(), 0, 1, gradients_);
  reducer_->WaitForCalls(1);
  summer_.reset();
}

TEST_F(GatedSummerTest, ShutdownWhileSumsRunIsAnError) {
  Start();
  SubmitAll(summer_.get(), 0, 1, gradients_);
  EXPECT_TRUE(absl::IsAborted(summer_->Shutdown()));
}

TEST_F(GatedSummerTest, FinishWithoutAllBucketsIsAnErrorAtOnce) {
  Start();
  SubmitBucket(summer_.get(), 0, 1, 0, gradients_);
  const absl::Status status = summer_->Finish(1).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(status.ToString(), HasSubstr("1 of 3 buckets are submitted"));
}

TEST_F(GatedSummerTest, SubmitOutOfOrderShowsInFinish) {
  const std::vector<std::function<void(GradientSummer*)>> mistakes = {
      [&](GradientSummer* summer) { SubmitBucket(summer, 0, 1, 1, gradients_); },
      [&](GradientSummer* summer) { SubmitBucket(summer, 1, 1, 0, gradients_); },
      [&](GradientSummer* summer) {
        summer->Submit({1, 0, 0, absl::MakeConstSpan(gradients_).subspan(0, 9), 1});
      },
      [&](GradientSummer* summer) {
        SubmitBucket(summer, 0, 1, 0, gradients_);
        SubmitBucket(summer, 0, 2, 1, gradients_);
      },
      [&](GradientSummer* summer) {
        SubmitAll(summer, 0, 1, gradients_);
        SubmitBucket(summer, 0, 2, 0, gradients_);
      },
  };
  for (const auto& mistake : mistakes) {
    Start();
    mistake(summer_.get());
    const absl::Status status = summer_->Finish(1).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(status.ToString(), HasSubstr("; due is bucket"));
  }
}

TEST(AllReduceSummerTest, LostPeerIsNamedInFinish) {
  constexpr int kRanks = 2;
  auto summers = RingSummers(kRanks);
  summers[1].reset();
  const std::vector<float> gradients = Gradients(0, 7);
  SubmitAll(summers[0].get(), 0, 7, gradients);
  const absl::Status status = summers[0]->Finish(7).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("step 7 bucket 0"));
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
}

TEST(AllReduceSummerTest, SilentPeerIsNamedByTheReducersOwnMessage) {
  auto reducers = MakeRingReducers(2, kSegmentBytes, absl::Milliseconds(50));
  ASSERT_TRUE(reducers.ok()) << reducers.status();
  const auto summer = Summer(2, 0, std::move((*reducers)[0]), absl::Milliseconds(50));
  const std::vector<float> gradients = Gradients(0, 7);
  SubmitAll(summer.get(), 0, 7, gradients);
  const absl::Status status = summer->Finish(7).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("no data from worker 1"));
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
}

TEST(AllReduceSummerTest, RefusesABadConfiguration) {
  const auto formula = [](int64_t) { return TrafficCounters(); };
  const auto create = [](AllReduceSummer::Config config) {
    return AllReduceSummer::Create(std::move(config)).status();
  };
  const auto reducer = [] { return std::make_unique<GatedReducer>(); };
  const auto arena = [] { return MakeArena(Plan().total_elements()); };
  const Group group = Group::World(1, 0, 0);
  const absl::Duration timeout = absl::Seconds(1);
  EXPECT_TRUE(absl::IsInvalidArgument(create({group, Plan(), nullptr, arena(), timeout, formula})));
  EXPECT_TRUE(absl::IsInvalidArgument(
      create({group, Plan(), reducer(), arena(), absl::ZeroDuration(), formula})));
  EXPECT_TRUE(
      absl::IsInvalidArgument(create({group, Plan(), reducer(), arena(), timeout, nullptr})));
  EXPECT_EQ(create({group, Plan(), reducer(), nullptr, timeout, formula}),
            absl::InvalidArgumentError("an arena of 0 elements for the sums; the plan has 1110"));
  EXPECT_EQ(
      create({group, Plan(), reducer(), MakeArena(1109), timeout, formula}),
      absl::InvalidArgumentError("an arena of 1109 elements for the sums; the plan has 1110"));
}

TEST(AllReduceSummerTest, SumsIntoTheArenaThatItIsGiven) {
  auto arena = MakeArena(Plan().total_elements());
  const absl::Span<const float> given = arena->span();
  auto reducer = std::make_unique<GatedReducer>();
  reducer->Open(3);
  auto summer =
      AllReduceSummer::Create({Group::World(1, 0, 0), Plan(), std::move(reducer), std::move(arena),
                               absl::Seconds(30), [](int64_t) { return TrafficCounters(); }});
  ASSERT_TRUE(summer.ok()) << summer.status();
  const std::vector<float> gradients = Gradients(0, 1);
  SubmitAll(summer->get(), 0, 1, gradients);
  const auto sums = (*summer)->Finish(1);
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_EQ(sums->data(), given.data());
  EXPECT_EQ(given, absl::MakeConstSpan(gradients));
}

}  // namespace
}  // namespace ringside
