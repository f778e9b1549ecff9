#include "experiments/model/sweep_points.h"

#include <gtest/gtest.h>

#include "tests/experiments/model/shapes_sweep.h"

namespace ringside {
namespace {

TEST(SweepPointsTest, TrialsOfOneSettingAreOnePoint) {
  const ComparisonResult sweep = MakeSweep({});
  const std::vector<SweepPoint> points = PointsOf(sweep);
  ASSERT_EQ(points.size(), 12u);
  const SweepPoint& ring = points[0];
  EXPECT_EQ(ring.row.strategy(), "ring");
  EXPECT_EQ(ring.row.point().at("network"), "200mbit,100us");
  EXPECT_EQ(ring.runs.size(), 3u);
  EXPECT_EQ(ring.counted_steps, 3 * 18);
  EXPECT_FALSE(ring.job.servers);
  EXPECT_EQ(ring.job.workers, 2);
  EXPECT_EQ(ring.job.cores, 2);
  EXPECT_TRUE(ring.job.one_machine);
  EXPECT_FALSE(ring.job.compute.holds_core);
  EXPECT_EQ(ring.job.lookahead, 16);
  EXPECT_EQ(ring.job.segment_elements, 64 << 10);
  EXPECT_NEAR(ring.job.network.bytes_per_s, 200e6 / 8 * 1448 / 1514, 1);
  EXPECT_NEAR(ring.job.network.latency_s, 100e-6, 1e-12);
  EXPECT_NEAR(ring.compute.backward_s, 0.0335, 1e-12);
  EXPECT_EQ(WorkloadOf(ring), "shapes preset=resnet18,compute_ms=50");
  int64_t elements = 0;
  for (const ModelBucket& bucket : ring.job.buckets) elements += bucket.elements;
  EXPECT_EQ(elements, 11'689'512);
  EXPECT_DOUBLE_EQ(ring.job.buckets.back().ready, 1);
  const SweepPoint& ps = points[1];
  EXPECT_TRUE(ps.job.servers);
  EXPECT_EQ(ps.row.placement(), "dedicated");
  EXPECT_NEAR(ps.gamma_s_per_byte, TrueModel().gamma_s_per_byte(), 1e-15);
  EXPECT_NEAR(ps.server_cpu_s_per_byte, TrueModel().server_cpu_s_per_byte(), 1e-15);
}

TEST(SweepPointsTest, WhatWasProbedCountsMoreThanWhatWasAskedFor) {
  ComparisonResult sweep = MakeSweep({});
  for (RunResult& run : *sweep.mutable_runs()) {
    run.mutable_network()->set_bandwidth_mbit(200);
    run.mutable_network()->set_latency_us(100);
    run.mutable_network()->set_burst_bytes(15'140);
    for (double mbit : {180.0, 190.0, 185.0}) {
      LinkProbe* probe = run.mutable_network()->add_probes();
      probe->set_bandwidth_mbit(mbit);
      probe->set_round_trip_us(300);
    }
  }
  const std::vector<SweepPoint> points = PointsOf(sweep);
  EXPECT_TRUE(points[0].probed);
  EXPECT_DOUBLE_EQ(points[0].job.network.bytes_per_s, 185e6 / 8);
  EXPECT_DOUBLE_EQ(points[0].job.network.latency_s, 150e-6);
  EXPECT_DOUBLE_EQ(points[0].job.network.burst_bytes, 14'480);
}

TEST(SweepPointsTest, ProbesOfAllTrialsCount) {
  ComparisonResult sweep = MakeSweep({});
  for (RunResult& run : *sweep.mutable_runs()) {
    run.mutable_network()->set_bandwidth_mbit(200);
    LinkProbe* probe = run.mutable_network()->add_probes();
    probe->set_bandwidth_mbit(190);
    probe->set_round_trip_us(run.trial() == 0 ? 900 : 300);
  }
  EXPECT_DOUBLE_EQ(PointsOf(sweep)[0].job.network.latency_s, 150e-6);
}

TEST(SweepPointsTest, BucketsAreThoseOfTheRun) {
  ComparisonResult sweep = MakeSweep({});
  for (RunResult& run : *sweep.mutable_runs()) {
    run.add_bucket_elements(10);
    run.add_bucket_elements(30);
  }
  const std::vector<ModelBucket> buckets = PointsOf(sweep)[0].job.buckets;
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].elements, 10);
  EXPECT_DOUBLE_EQ(buckets[0].ready, 0.25);
  EXPECT_EQ(buckets[1].elements, 30);
  EXPECT_DOUBLE_EQ(buckets[1].ready, 1);
}

TEST(SweepPointsTest, LeavesOutWhatTheModelDoesNotKnow) {
  ComparisonResult sweep = MakeSweep({});
  sweep.mutable_runs(0)->set_strategy("local");
  (*sweep.mutable_runs(1)->mutable_settings())["stragglers"] = "1:50ms";
  sweep.mutable_runs(2)->set_warmup_steps(100);
  for (int i = 3; i < 6; ++i) (*sweep.mutable_runs(i)->mutable_settings())["ps_mode"] = "async";
  EXPECT_EQ(PointsOf(sweep).size(), 10u);
  EXPECT_TRUE(PointsOf({}).empty());
}

TEST(SweepPointsTest, OneHostIsNotShaped) {
  ShapesSweep sample;
  sample.networks = {""};
  const ComparisonResult sweep = MakeSweep(sample);
  const std::vector<SweepPoint> points = PointsOf(sweep);
  EXPECT_FALSE(points[0].shaped);
  EXPECT_EQ(points[0].job.network.bytes_per_s, 0);
  EXPECT_EQ(points[0].job.lookahead, 1);  // over sockets
}

TEST(SweepPointsTest, CheckpointsStopTrainingInProportionToTheParameters) {
  ShapesSweep sample;
  const ComparisonResult none = MakeSweep(sample);
  EXPECT_FALSE(MeasuredCheckpointSeconds(PointsOf(none), 1000).has_value());
  sample.checkpoints = 5;
  const ComparisonResult sweep = MakeSweep(sample);
  const auto seconds = MeasuredCheckpointSeconds(PointsOf(sweep), 3 * 11'689'512);
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(*seconds, 3 * 0.002, 1e-9);
}

TEST(SweepPointsTest, SettingsByName) {
  const ComparisonResult sweep = MakeSweep({});
  const std::vector<SweepPoint> points = PointsOf(sweep);
  EXPECT_EQ(SettingOf(points[0], "workers"), "2");
  EXPECT_EQ(SettingOf(points[0], "strategy"), "ring");
  EXPECT_EQ(SettingOf(points[0], "network"), "200mbit,100us");
  EXPECT_EQ(SettingOf(points[0], "unheard"), "");
  EXPECT_EQ(SettingOf(points[1], "ps_shards"), "1");
}

}  // namespace
}  // namespace ringside
