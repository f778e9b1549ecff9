#include "experiments/report/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> StepsOf(const std::vector<SlowStep>& slow_steps) {
  std::vector<int64_t> steps;
  for (const SlowStep& slow : slow_steps) steps.push_back(slow.step);
  return steps;
}

// `work_ms` says how long a rank works in a step. All begin a step when the last has ended the one
// before, and a step takes 2 ms more than its longest work. The clock of rank r is r s behind.
RunResult MakeRun(int ranks, int64_t steps, const std::function<int64_t(int, int64_t)>& work_ms) {
  constexpr int64_t kMs = 1'000'000;
  RunResult run;
  run.set_strategy("ring");
  run.set_workers(ranks);
  run.set_warmup_steps(2);
  for (int rank = 0; rank < ranks; ++rank) {
    WorkerResult* const worker = run.add_worker_results();
    worker->set_rank(rank);
    worker->mutable_clock()->mutable_first()->set_offset_ns(1000 * kMs * rank);
    worker->mutable_clock()->mutable_first()->set_error_ns(kMs / 10 * (rank + 1));
  }
  int64_t now = 5000 * kMs;
  for (int64_t step = 1; step <= steps; ++step) {
    int64_t longest = 0;
    for (int rank = 0; rank < ranks; ++rank) longest = std::max(longest, work_ms(rank, step));
    for (int rank = 0; rank < ranks; ++rank) {
      StepRecord* const record = run.mutable_worker_results(rank)->add_steps();
      const int64_t begin = now - 1000 * kMs * rank;
      record->set_step(step);
      record->set_step_s(static_cast<double>(longest + 2) / 1e3);
      record->set_forward_s(static_cast<double>(work_ms(rank, step)) / 1e3);
      record->set_first_ready_at_ns(begin + work_ms(rank, step) / 2 * kMs);
      record->set_ready_at_ns(begin + work_ms(rank, step) * kMs);
    }
    now += (longest + 2) * kMs;
  }
  return run;
}

TEST(ArrivalsTest, ChronicallySlow) {
  const Arrivals arrivals =
      ArrivalsOf(MakeRun(4, 12, [](int rank, int64_t) { return rank == 2 ? 58 : 8; }));
  EXPECT_EQ(arrivals.steps, 10);
  EXPECT_NEAR(arrivals.spread_s, 0.050, 1e-9);
  EXPECT_NEAR(arrivals.spread_p90_s, 0.050, 1e-9);
  EXPECT_NEAR(arrivals.first_bucket_spread_s, 0.025, 1e-9);
  EXPECT_NEAR(arrivals.clock_error_s, 0.0007, 1e-9);  // of ranks 2 and 3
  EXPECT_EQ(arrivals.slowest, 2);
  EXPECT_TRUE(arrivals.chronic());
  const RankArrivals& slow = arrivals.ranks[2];
  EXPECT_EQ(slow.last_share, 1);
  EXPECT_NEAR(slow.late_s, 0.050, 1e-9);
  EXPECT_NEAR(slow.slow_total_s, 0.500, 1e-9);
  EXPECT_TRUE(arrivals.ranks[0].slow_steps.empty());
  EXPECT_EQ(DescribeArrivals(arrivals),
            "worker 2 kept the others waiting in 10 of 10 steps, by 50.0 ms (chronic): its own "
            "work takes 58.0 ms, the others' 8.00 ms");
}

TEST(ArrivalsTest, OnceAndAtTimes) {
  const auto once = ArrivalsOf(
      MakeRun(2, 12, [](int rank, int64_t step) { return rank == 0 && step == 7 ? 40 : 10; }));
  EXPECT_EQ(once.slowest, 0);
  EXPECT_FALSE(once.chronic());
  EXPECT_THAT(StepsOf(once.ranks[0].slow_steps), ElementsAre(7));
  EXPECT_NEAR(once.ranks[0].slowest_step().late_s, 0.030, 1e-9);
  EXPECT_EQ(once.ranks[0].slowness(), Slowness::kOnce);
  EXPECT_EQ(once.ranks[1].slowness(), Slowness::kNever);
  EXPECT_EQ(DescribeArrivals(once),
            "worker 0 kept the others waiting in 1 of 10 steps, by 30.0 ms (once, step 7): its own "
            "work takes 10.0 ms, the others' 10.0 ms");
  const auto at_times = ArrivalsOf(
      MakeRun(2, 12, [](int rank, int64_t step) { return rank == 1 && step % 4 == 0 ? 40 : 10; }));
  EXPECT_THAT(StepsOf(at_times.ranks[1].slow_steps), ElementsAre(4, 8, 12));
  EXPECT_EQ(at_times.ranks[1].slowness(), Slowness::kAtTimes);
  EXPECT_FALSE(at_times.chronic());
  EXPECT_THAT(DescribeArrivals(at_times), HasSubstr("(at times, first in step 4)"));
}

TEST(ArrivalsTest, WhatIsWithinTheStepsNoiseOrTheClocksErrorIsNobody) {
  // 5 % of 102 ms is more than 4 ms.
  const auto even =
      ArrivalsOf(MakeRun(3, 12, [](int rank, int64_t) { return rank == 1 ? 100 : 96; }));
  EXPECT_EQ(even.slowest, -1);
  EXPECT_EQ(DescribeArrivals(even),
            "no rank kept the others waiting: from first to last 4.00 ms (median of 10 steps)");
  RunResult run = MakeRun(2, 12, [](int rank, int64_t) { return rank == 1 ? 20 : 10; });
  EXPECT_EQ(ArrivalsOf(run).slowest, 1);
  EXPECT_FALSE(ArrivalsOf(run).limited_by_clocks());
  run.mutable_worker_results(0)->mutable_clock()->mutable_first()->set_error_ns(20'000'000);
  const Arrivals limited = ArrivalsOf(run);
  EXPECT_EQ(limited.slowest, -1);
  EXPECT_TRUE(limited.limited_by_clocks());
  EXPECT_EQ(DescribeArrivals(limited),
            "no rank kept the others waiting: from first to last 10.0 ms (median of 10 steps; "
            "clocks may differ by 20.2 ms, so that less cannot be told)");
}

TEST(ArrivalsTest, ARankThatLeavesOutStepsIsHeldAgainstThoseItTook) {
  RunResult run = MakeRun(3, 14, [](int rank, int64_t) { return rank == 2 ? 40 : 10; });
  auto& steps = *run.mutable_worker_results(2)->mutable_steps();
  for (int i = steps.size() - 1; i >= 0; --i) {
    if (steps[i].step() % 4 != 0) steps.DeleteSubrange(i, 1);
  }
  const Arrivals arrivals = ArrivalsOf(run);
  EXPECT_EQ(arrivals.steps, 12);
  EXPECT_EQ(arrivals.ranks[2].steps, 3);
  EXPECT_EQ(arrivals.slowest, 2);
  EXPECT_TRUE(arrivals.chronic());
  EXPECT_THAT(DescribeArrivals(arrivals), HasSubstr("in 3 of 3 steps, by 30.0 ms (chronic)"));
}

TEST(ArrivalsTest, WhereRanksAreNotInStepTheirOwnWorkIsCompared) {
  RunResult run = MakeRun(3, 12, [](int rank, int64_t) { return rank == 1 ? 30 : 10; });
  // They drift apart.
  for (StepRecord& record : *run.mutable_worker_results(0)->mutable_steps()) {
    record.set_ready_at_ns(record.ready_at_ns() + record.step() * 100'000'000);
  }
  EXPECT_EQ(ArrivalsOf(run).slowest, 0);
  (*run.mutable_settings())["strategy"] = "ps";
  (*run.mutable_settings())["ps_mode"] = "async";
  run.set_strategy("ps async");
  const Arrivals arrivals = ArrivalsOf(run);
  EXPECT_EQ(arrivals.slowest, 1);
  EXPECT_FALSE(arrivals.in_step);
  EXPECT_EQ(arrivals.clock_error_s, 0);
  EXPECT_NEAR(arrivals.spread_s, 0.020, 1e-9);
  EXPECT_THAT(DescribeArrivals(arrivals),
              HasSubstr("worker 1 worked longer than the others in 10 of 10 steps"));
}

TEST(ArrivalsTest, NothingIsToldOfOneProcessOrWithoutTimes) {
  EXPECT_EQ(ArrivalsOf(MakeRun(1, 12, [](int, int64_t) { return 10; })).steps, 0);
  RunResult old = MakeRun(2, 12, [](int, int64_t) { return 10; });
  for (WorkerResult& worker : *old.mutable_worker_results()) {
    for (StepRecord& record : *worker.mutable_steps()) record.clear_ready_at_ns();
  }
  EXPECT_EQ(ArrivalsOf(old).steps, 0);
  EXPECT_EQ(DescribeArrivals(ArrivalsOf(old)), "no arrivals of several ranks were recorded");
}

}  // namespace
}  // namespace ringside
