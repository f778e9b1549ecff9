#include "experiments/progress_line.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

absl::Time At(double seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

WorkerProgress Worker(int rank, int64_t step, int64_t samples, double loss, double own_work_s) {
  WorkerProgress worker;
  worker.rank = rank;
  worker.progress.set_step(step);
  worker.progress.set_total_steps(100);
  worker.progress.set_samples(samples);
  worker.progress.set_loss(loss);
  worker.progress.set_own_work_s(own_work_s);
  worker.progress.set_phase("train");
  return worker;
}

TEST(ProgressMeterTest, RatesComeFromTheDifferenceOfTwoLooks) {
  ProgressMeter meter;
  ProgressView view =
      meter.Update({Worker(0, 10, 320, 0.5, 0.010), Worker(1, 11, 352, 0.25, 0.020)}, At(1));
  EXPECT_FALSE(view.samples_per_s.has_value());
  EXPECT_FALSE(view.left.has_value());
  view = meter.Update({Worker(0, 30, 960, 0.125, 0.030), Worker(1, 30, 960, 0.25, 0.020)}, At(3));
  EXPECT_EQ(view.step, 30);
  EXPECT_EQ(view.total_steps, 100);
  EXPECT_DOUBLE_EQ(view.loss, 0.375);
  EXPECT_DOUBLE_EQ(*view.samples_per_s, (1920 - 672) / 2.0);
  EXPECT_EQ(view.slowest_rank, 0);
  EXPECT_DOUBLE_EQ(view.slowest_work_s, 0.030);
  EXPECT_EQ(*view.left, absl::Seconds(7));
}

TEST(ProgressMeterTest, OldHistoryIsForgotten) {
  ProgressMeter meter;
  meter.Update({Worker(0, 1, 100, 0, 0)}, At(0));
  meter.Update({Worker(0, 2, 200, 0, 0)}, At(10));
  meter.Update({Worker(0, 3, 400, 0, 0)}, At(11));
  const ProgressView view = meter.Update({Worker(0, 4, 600, 0, 0)}, At(16));
  EXPECT_DOUBLE_EQ(*view.samples_per_s, 200 / 5.0);
}

TEST(ProgressMeterTest, NobodyThereYet) {
  EXPECT_EQ(FormatProgress(ProgressMeter().Update({}, At(0))), "starting");
}

TEST(ProgressLineTest, SaysEverythingInOneLine) {
  ProgressView view;
  view.phase = "train";
  view.step = 120;
  view.total_steps = 600;
  view.samples_per_s = 12345.4;
  view.loss = 0.23452;
  view.workers = 4;
  view.slowest_rank = 2;
  view.slowest_work_s = 0.01234;
  view.left = absl::Seconds(42);
  EXPECT_EQ(
      FormatProgress(view),
      "step 120/600 · 12,345 samples/s · loss 0.2345 · slowest: worker 2, 12.3 ms · 0:42 left");
  view.workers = 1;
  view.samples_per_s.reset();
  view.left.reset();
  EXPECT_EQ(FormatProgress(view), "step 120/600 · loss 0.2345");
  view.phase = "evaluate";
  EXPECT_EQ(FormatProgress(view), "evaluating after 120 steps");
  view.phase = "finish";
  EXPECT_EQ(FormatProgress(view), "finishing after 120 steps");
}

TEST(ProgressLineTest, FormatsRatesAndClocks) {
  EXPECT_EQ(FormatRate(1234567), "1,234,567");
  EXPECT_EQ(FormatRate(999.4), "999");
  EXPECT_EQ(FormatRate(12.34), "12.3");
  EXPECT_EQ(FormatRate(1.234), "1.23");
  EXPECT_EQ(FormatClock(absl::Milliseconds(400)), "0:00");
  EXPECT_EQ(FormatClock(absl::Milliseconds(59600)), "1:00");
  EXPECT_EQ(FormatClock(absl::Seconds(3723)), "1:02:03");
}

TEST(ProgressPrinterTest, RewritesOneLineOnATerminal) {
  ::testing::internal::CaptureStderr();
  {
    ProgressPrinter printer("[1/2]", true);
    printer.Show("step 1", At(0));
    printer.Show("step 2", At(0));
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "\r[1/2]: step 1\x1b[K\r[1/2]: step 2\x1b[K\r\x1b[K");
}

TEST(ProgressPrinterTest, PrintsNowAndThenElsewhere) {
  ::testing::internal::CaptureStderr();
  {
    ProgressPrinter printer("", false);
    printer.Show("step 1", At(0));
    printer.Show("step 2", At(9.9));
    printer.Show("step 3", At(10));
    printer.Show("step 4", At(19.9));
    printer.Show("step 5", At(21));
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "step 3\nstep 5\n");
}

}  // namespace
}  // namespace ringside
