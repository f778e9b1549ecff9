#include "experiments/model/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "experiments/model/cost_formulas.h"
#include "experiments/model/prediction_figures.h"
#include "experiments/model/prediction_text.h"
#include "tests/experiments/model/shapes_sweep.h"

namespace ringside {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

PredictionRequest Request() {
  PredictionRequest request;
  request.workers = {4, 64};
  request.bandwidth_mbit = 1000;
  request.latency_us = 20;
  return request;
}

Prediction Of(const PredictionRequest& request) {
  const auto prediction = Predict(MakeSweep({}), request);
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  return *prediction;
}

const ForecastRow& Row(const Prediction& prediction, const std::string& series, int workers) {
  for (const ForecastRow& row : prediction.forecast.rows()) {
    if (SeriesOf(row) == series && row.workers() == workers) return row;
  }
  ADD_FAILURE() << "no row of " << series << ", " << workers;
  return prediction.forecast.rows(0);
}

TEST(PredictionTest, OneServerSuffersAndRingsDoNot) {
  const Prediction prediction = Of(Request());
  EXPECT_EQ(prediction.forecast.rows_size(), 6);
  const double ring_4 = Row(prediction, "ring", 4).predicted_s();
  const double ring_64 = Row(prediction, "ring", 64).predicted_s();
  EXPECT_LT(ring_64, 2 * ring_4);
  const double ps_4 = Row(prediction, "ps, dedicated", 4).predicted_s();
  const double ps_64 = Row(prediction, "ps, dedicated", 64).predicted_s();
  EXPECT_NEAR(ps_64 / ps_4, 16, 2);
  EXPECT_EQ(Row(prediction, "ps, colocated", 64).shards(), 64);
  EXPECT_LT(Row(prediction, "ps, colocated", 64).predicted_s(), ps_64 / 4);
  for (const ForecastRow& row : prediction.forecast.rows()) {
    EXPECT_GT(row.simulated_s(), 0);
    EXPECT_NEAR(row.predicted_s(), row.simulated_s(), 0.25 * row.simulated_s())
        << row.DebugString();
  }
}

TEST(PredictionTest, FindsWhereTheyChangePlaces) {
  PredictionRequest request = Request();
  request.workers = {4, 64};
  request.shards = 16;
  const Prediction prediction = Of(request);
  bool by_workers = false;
  for (const Crossover& crossover : prediction.crossovers) {
    if (crossover.setting() != "workers") continue;
    by_workers = true;
    EXPECT_EQ(crossover.faster_below(), "ps, dedicated");
    EXPECT_EQ(crossover.faster_above(), "ring");
    EXPECT_GT(crossover.value().low(), 4);
    EXPECT_LT(crossover.value().high(), 64);
    EXPECT_EQ(crossover.value().high(), crossover.value().low() + 1);
  }
  EXPECT_TRUE(by_workers);
}

TEST(PredictionTest, AnotherModelAndItsTime) {
  PredictionRequest request = Request();
  request.workers = {4};
  request.model = "resnet50";
  EXPECT_THAT(Of(request).warnings, Contains(HasSubstr("--compute")));
  request.compute_s = 0.2;
  const Prediction prediction = Of(request);
  EXPECT_THAT(prediction.warnings, Not(Contains(HasSubstr("--compute"))));
  EXPECT_THAT(prediction.assumptions, Contains(HasSubstr("25,557,032 parameters of resnet50")));
  EXPECT_GT(Row(prediction, "ring", 4).predicted_s(), 0.2);
  request.model.clear();
  request.parameters = 100'000'000;
  EXPECT_THAT(Of(request).warnings, Contains(HasSubstr("100,000,000 parameters")));
}

TEST(PredictionTest, SmallerBucketsOfTheSameModel) {
  PredictionRequest request = Request();
  request.workers = {4};
  request.bucket_bytes = 1 << 20;
  const Prediction prediction = Of(request);
  EXPECT_THAT(prediction.assumptions, Contains(HasSubstr("11,689,512 parameters, in ")));
}

TEST(PredictionTest, WarnsOfWhatIsFarAway) {
  PredictionRequest request = Request();
  request.workers = {100};
  request.bandwidth_mbit = 100'000;
  const Prediction prediction = Of(request);
  EXPECT_THAT(prediction.warnings, Contains(HasSubstr("100 workers are far beyond the 4")));
  EXPECT_THAT(prediction.warnings, Contains(HasSubstr("Gbit/s is far beyond")));
  ShapesSweep one_host;
  one_host.networks = {""};
  const auto loopback = Predict(MakeSweep(one_host), Request());
  ASSERT_TRUE(loopback.ok()) << loopback.status();
  EXPECT_THAT(loopback->warnings, Contains(HasSubstr("processes on one host")));
}

TEST(PredictionTest, SaysWhatIsWrong) {
  PredictionRequest request = Request();
  EXPECT_EQ(Predict({}, request).status().code(), absl::StatusCode::kFailedPrecondition);
  request.model = "alexnet";
  const auto unknown = Predict(MakeSweep({}), request);
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("resnet50"));
  request = Request();
  request.workers = {0};
  EXPECT_EQ(Predict(MakeSweep({}), request).status().code(), absl::StatusCode::kInvalidArgument);
  request = Request();
  request.shards = 0;
  EXPECT_EQ(Predict(MakeSweep({}), request).status().code(), absl::StatusCode::kInvalidArgument);
  request = Request();
  request.failures.emplace();  // every 0 s
  EXPECT_EQ(Predict(MakeSweep({}), request).status().code(), absl::StatusCode::kInvalidArgument);
  request.failures->mtbf_s = 3600;
  request.failures->checkpoint_s = 1;
  request.failures->checkpoint_steps = -1;
  EXPECT_EQ(Predict(MakeSweep({}), request).status().code(), absl::StatusCode::kInvalidArgument);
}

PredictionRequest UnderFailures() {
  PredictionRequest request = Request();
  request.failures.emplace();
  request.failures->mtbf_s = 1000 * 3600.0;
  request.failures->restart_s = 120;
  request.failures->checkpoint_s = 2;
  return request;
}

TEST(PredictionTest, FailuresCostWhatTheFormulaSays) {
  const Prediction prediction = Of(UnderFailures());
  ASSERT_EQ(prediction.under_failures.size(), 6u);
  ASSERT_EQ(prediction.curve_under_failures.size(), prediction.curve.size());
  for (int i = 0; i < prediction.forecast.rows_size(); ++i) {
    const ForecastRow& row = prediction.forecast.rows(i);
    const FailureEstimate& failures = prediction.under_failures[i];
    EXPECT_EQ(failures.processes, row.workers() + row.shards());
    EXPECT_DOUBLE_EQ(failures.mtbf_s, 1000 * 3600.0 / failures.processes);
    const double interval_s = static_cast<double>(failures.checkpoint_steps) * row.predicted_s();
    EXPECT_NEAR(interval_s, std::sqrt(2 * 2 * failures.mtbf_s),
                0.02 * interval_s + row.predicted_s());  // whole steps
    const double expected = ExpectedTrainingSeconds(1, failures.mtbf_s, interval_s, 2, 120);
    EXPECT_NEAR(failures.step_s, row.predicted_s() * expected, 1e-9);
    EXPECT_NEAR(failures.goodput * expected, 1, 1e-9);
    EXPECT_NEAR(failures.simulated_goodput, failures.goodput, 0.002);
  }
  EXPECT_THAT(prediction.assumptions, Contains(HasSubstr("fails every 1,000 h on the average")));
  EXPECT_THAT(prediction.assumptions, Contains(HasSubstr("stops training for 2 s, as told")));
  EXPECT_TRUE(Of(Request()).under_failures.empty());
}

TEST(PredictionTest, CheckpointsAfterSoManySteps) {
  PredictionRequest request = UnderFailures();
  request.failures->checkpoint_steps = 77;
  const Prediction prediction = Of(request);
  for (const FailureEstimate& failures : prediction.under_failures) {
    EXPECT_EQ(failures.checkpoint_steps, 77);
  }
  EXPECT_THAT(prediction.assumptions, Contains(HasSubstr("after 77 steps.")));
}

TEST(PredictionTest, CheckpointsTakeWhatTheyTookInTheRuns) {
  PredictionRequest request = UnderFailures();
  request.failures->checkpoint_s.reset();
  const auto unknown = Predict(MakeSweep({}), request);
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("--checkpoint_cost"));
  ShapesSweep sample;
  sample.checkpoints = 4;
  // Twice the parameters take twice the 2 ms.
  request.parameters = 2 * 11'689'512;
  const auto measured = Predict(MakeSweep(sample), request);
  ASSERT_TRUE(measured.ok()) << measured.status();
  EXPECT_THAT(measured->assumptions, Contains(HasSubstr("stops training for 4 ms, as measured")));
}

// Shards fail too: where a ring is hardly slower, failures make it the better choice.
TEST(PredictionTest, FailuresMoveWhereTheyChangePlaces) {
  PredictionRequest request = UnderFailures();
  request.shards = 16;
  const auto last_of_ps = [](const Prediction& prediction) {
    for (const Crossover& crossover : prediction.crossovers) {
      if (crossover.setting() == "workers") return crossover.value().low();
    }
    ADD_FAILURE() << "no crossover";
    return 0.0;
  };
  request.failures->mtbf_s = 10 * 3600.0;
  const double with = last_of_ps(Of(request));
  request.failures.reset();
  EXPECT_LT(with, last_of_ps(Of(request)));
}

TEST(PredictionTextTest, SaysWhatFailuresCost) {
  EXPECT_THAT(PredictionText(Of(Request())), Not(HasSubstr("failures")));
  const Prediction prediction = Of(UnderFailures());
  const std::string text = PredictionText(prediction);
  EXPECT_THAT(text, HasSubstr("Under failures, with checkpoints:\n"));
  EXPECT_THAT(text, HasSubstr("goodput  simulated effective step\n"));
  EXPECT_THAT(text, HasSubstr("ps, colocated        128    7.81 h"));
  EXPECT_THAT(text, HasSubstr("ps on hosts of its own, under failures:"));
  EXPECT_THAT(text, HasSubstr("Young 1974"));
}

TEST(PredictionTextTest, AJobThatGetsNowhere) {
  PredictionRequest request = UnderFailures();
  request.failures->mtbf_s = 60;
  const std::string text = PredictionText(Of(request));
  EXPECT_THAT(text, HasSubstr("0.0 %"));
  EXPECT_THAT(text, HasSubstr("never\n"));
}

TEST(PredictionTextTest, Durations) {
  EXPECT_EQ(DurationText(0), "0 s");
  EXPECT_EQ(DurationText(0.0025), "2.5 ms");
  EXPECT_EQ(DurationText(90), "90 s");
  EXPECT_EQ(DurationText(150), "2.5 min");
  EXPECT_EQ(DurationText(5000 * 3600.0), "5,000 h");
  EXPECT_EQ(DurationText(std::numeric_limits<double>::infinity()), "never");
}

TEST(PredictionFiguresTest, ShowGoodputUnderFailures) {
  const std::vector<Figure> figures = PredictionFigures(Of(UnderFailures()));
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_EQ(figures[2].name, "predicted_goodput");
  EXPECT_THAT(figures[2].csv, HasSubstr(",efficiency,processes,job_mtbf_s,checkpoint_steps,"
                                        "goodput,simulated_goodput,effective_step_s"));
  EXPECT_THAT(figures[2].script, HasSubstr("set format y '%.0f %%'"));
  EXPECT_THAT(figures[2].script, HasSubstr("index 5 with points"));
}

TEST(PredictionTextTest, SaysAllThatIsKnown) {
  const Prediction prediction = Of(Request());
  const std::string text = PredictionText(prediction);
  EXPECT_THAT(text, HasSubstr("fitted to 12 measured settings"));
  EXPECT_THAT(text, HasSubstr("ps, colocated"));
  EXPECT_THAT(text, HasSubstr("<- fastest"));
  EXPECT_THAT(text, HasSubstr("Assumed:"));
  EXPECT_THAT(text, HasSubstr("weak scaling"));
}

TEST(PredictionFiguresTest, HaveAllNumbersAsCsv) {
  const std::vector<Figure> figures = PredictionFigures(Of(Request()));
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].name, "predicted_step");
  EXPECT_THAT(figures[0].csv, HasSubstr("strategy,placement,workers,shards,predicted_s"));
  EXPECT_EQ(std::count(figures[0].csv.begin(), figures[0].csv.end(), '\n'), 7);
  EXPECT_THAT(figures[0].script, HasSubstr("set logscale x 2"));
  EXPECT_THAT(figures[0].script, HasSubstr("set logscale y 10"));
  EXPECT_THAT(figures[1].script, HasSubstr("index 5 with points"));
  EXPECT_THAT(figures[1].script, Not(HasSubstr("set logscale y")));
}

}  // namespace
}  // namespace ringside
