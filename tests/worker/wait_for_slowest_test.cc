#include "worker/wait_for_slowest.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

StepRecord* AddStep(int64_t step, int64_t ready_at_ms, double exposed_s, WorkerResult* worker) {
  StepRecord* const record = worker->add_steps();
  record->set_step(step);
  record->set_ready_at_ns(ready_at_ms * 1'000'000);
  record->set_exposed_comm_s(exposed_s);
  return record;
}

TEST(WaitForSlowestTest, IsTheTimeToTheLastRankOnOneClock) {
  RunResult run;
  for (int rank = 0; rank < 3; ++rank) run.add_worker_results()->set_rank(rank);
  // Rank 1's clock is 1 s behind.
  run.mutable_worker_results(1)->mutable_clock()->mutable_first()->set_offset_ns(1'000'000'000);
  AddStep(1, 2010, 0.100, run.mutable_worker_results(0));
  AddStep(1, 1050, 0.020, run.mutable_worker_results(1));  // 2050, the last
  AddStep(1, 2000, 0.030, run.mutable_worker_results(2));
  AddStep(2, 3000, 0.100, run.mutable_worker_results(2));  // alone
  FillWaitForSlowest(0, &run);
  const auto wait = [&run](int rank) { return run.worker_results(rank).steps(0).wait_slowest_s(); };
  EXPECT_NEAR(wait(0), 0.040, 1e-9);
  EXPECT_EQ(wait(1), 0);
  EXPECT_EQ(wait(2), 0.030);  // of what was exposed
  EXPECT_EQ(run.worker_results(2).steps(1).wait_slowest_s(), 0);
}

TEST(WaitForSlowestTest, NobodyWaitsForBackupWorkers) {
  RunResult run;
  for (int rank = 0; rank < 3; ++rank) {
    AddStep(1, 100 + 10 * rank * rank, 1, run.add_worker_results());
  }
  FillWaitForSlowest(1, &run);
  EXPECT_NEAR(run.worker_results(0).steps(0).wait_slowest_s(), 0.010, 1e-9);
  EXPECT_EQ(run.worker_results(1).steps(0).wait_slowest_s(), 0);
  EXPECT_EQ(run.worker_results(2).steps(0).wait_slowest_s(), 0);
}

TEST(WaitForSlowestTest, OneProcessWaitsForNobody) {
  RunResult run;
  AddStep(1, 100, 1, run.add_worker_results());
  FillWaitForSlowest(0, &run);
  EXPECT_FALSE(run.worker_results(0).steps(0).has_wait_slowest_s());
}

}  // namespace
}  // namespace ringside
