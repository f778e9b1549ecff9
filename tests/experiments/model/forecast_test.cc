#include "experiments/model/forecast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/model/cost_fit.h"
#include "experiments/report/statistics.h"
#include "tests/experiments/model/shapes_sweep.h"

namespace ringside {
namespace {

struct Errors {
  double largest = 0;
  double median = 0;
  int count = 0;
};

Errors HeldOut(const Forecast& forecast, bool simulated) {
  std::vector<double> errors;
  for (const ForecastRow& row : forecast.rows()) {
    if (row.in_fit()) continue;
    const double foretold = simulated ? row.simulated_s() : row.predicted_s();
    errors.push_back(std::abs(foretold / row.measured_s().median() - 1));
  }
  if (errors.empty()) return {};
  return {*std::max_element(errors.begin(), errors.end()), Median(errors),
          static_cast<int>(errors.size())};
}

void ExpectWithinTheTarget(const ComparisonResult& sweep, const std::vector<HoldOut>& hold_outs,
                           int rows) {
  const auto forecast = ForecastSweep(sweep, hold_outs);
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  for (bool simulated : {false, true}) {
    const Errors errors = HeldOut(*forecast, simulated);
    EXPECT_EQ(errors.count, rows);
    EXPECT_LT(errors.largest, 0.15) << "simulated: " << simulated;
    EXPECT_LT(errors.median, 0.08) << "simulated: " << simulated;
  }
}

TEST(CostFitTest, RecoversWhatTheStepsDependOn) {
  const auto forecast = ForecastSweep(MakeSweep({}), {});
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  const CostModel& model = forecast->model();
  EXPECT_EQ(model.points(), 12);
  EXPECT_LT(model.residual_rms(), 0.05);
  EXPECT_NEAR(model.link_share(), TrueModel().link_share(), 0.04);
  EXPECT_NEAR(model.gamma_s_per_byte(), TrueModel().gamma_s_per_byte(), 0.05e-9);
  EXPECT_NEAR(model.compute_s(), 0.0562, 0.001);
  for (const ForecastRow& row : forecast->rows()) {
    EXPECT_TRUE(row.in_fit());
    EXPECT_GT(row.efficiency(), 0);
    EXPECT_LT(row.efficiency(), 1);
  }
}

// Without a network that hides them, the costs of the processors show.
TEST(CostFitTest, RecoversTheProcessorsCostsOnOneHost) {
  ShapesSweep sample;
  sample.networks = {""};
  sample.workers = {2, 4, 8};
  sample.noise = 0;
  const auto forecast = ForecastSweep(MakeSweep(sample), {});
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  EXPECT_EQ(forecast->model().link_share(), 0);
  EXPECT_LT(forecast->model().residual_rms(), 0.05);
  EXPECT_NEAR(forecast->model().cpu_s_per_byte(), 0.5e-9, 0.2e-9);
  EXPECT_NEAR(forecast->model().server_cpu_s_per_byte(), 0.9e-9, 0.2e-9);
}

TEST(CostFitTest, OneWildMeasurementDoesNotDecide) {
  ComparisonResult sweep = MakeSweep({});
  for (int i = 0; i < 3; ++i) {
    for (WorkerResult& worker : *sweep.mutable_runs(i)->mutable_worker_results()) {
      for (StepRecord& record : *worker.mutable_steps()) record.set_step_s(record.step_s() * 3);
    }
  }
  const auto forecast = ForecastSweep(sweep, {});
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  EXPECT_NEAR(forecast->model().link_share(), TrueModel().link_share(), 0.06);
}

TEST(ForecastTest, ForetellsABandwidthThatItHasNotSeen) {
  for (const char* network : {"200mbit,100us", "500mbit,100us", "1gbit,100us"}) {
    ExpectWithinTheTarget(MakeSweep({}), {{"network", network, 0}}, 4);
  }
}

TEST(ForecastTest, ForetellsWorkersThatItHasNotSeen) {
  ExpectWithinTheTarget(MakeSweep({}), {{"workers", "4", 0}}, 6);
  ExpectWithinTheTarget(MakeSweep({}), {{"", "", 2}}, 6);
  ExpectWithinTheTarget(MakeSweep({}), {{"network", "500mbit,100us", 4}}, 2);
}

TEST(ForecastTest, ForetellsShardsBesideTheWorkers) {
  ShapesSweep sample;
  sample.placement = "colocated";
  sample.shards = 4;
  sample.workers = {4};
  ExpectWithinTheTarget(MakeSweep(sample), {{"network", "500mbit,100us", 0}}, 2);
}

TEST(ForecastTest, KnowsHowLongAnotherShapesWorkloadComputes) {
  ShapesSweep sample;
  ComparisonResult sweep = MakeSweep(sample);
  sample.model_args = "preset=resnet18,compute_ms=50.0";  // as if it were another
  sweep.mutable_runs()->MergeFrom(MakeSweep(sample).runs());
  ExpectWithinTheTarget(sweep, {{"model_args", sample.model_args, 0}}, 12);
}

TEST(ForecastTest, TheSameRunsGiveTheSameForecast) {
  const auto once = ForecastSweep(MakeSweep({}), {{"workers", "4", 0}});
  const auto again = ForecastSweep(MakeSweep({}), {{"workers", "4", 0}});
  ASSERT_TRUE(once.ok());
  EXPECT_EQ(once->DebugString(), again->DebugString());
}

TEST(ForecastTest, SaysWhatIsWrong) {
  EXPECT_EQ(ForecastSweep({}, {}).status().code(), absl::StatusCode::kFailedPrecondition);
  const auto all_held_out = ForecastSweep(MakeSweep({}), {{"", "", 0}});
  EXPECT_EQ(all_held_out.status().code(), absl::StatusCode::kFailedPrecondition);
  const auto no_such = ForecastSweep(MakeSweep({}), {{"network", "10gbit", 4}});
  EXPECT_EQ(no_such.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(no_such.status().message().find("network=10gbit, 4 workers"), std::string::npos);
}

}  // namespace
}  // namespace ringside
