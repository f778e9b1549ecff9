// Jobs for tests of the cost model.
#ifndef RINGSIDE_TESTS_EXPERIMENTS_MODEL_SAMPLE_JOBS_H_
#define RINGSIDE_TESTS_EXPERIMENTS_MODEL_SAMPLE_JOBS_H_

#include <vector>

#include "common/bucket_plan.h"
#include "common/shape_presets.h"
#include "experiments/model/rank_times.h"
#include "experiments/model/step_job.h"

namespace ringside {

// One bucket, ready at once, no compute, 1 Gbit/s and 100 us between hosts, alpha alone.
inline StepJob UniformRing(int workers, int64_t elements) {
  StepJob job;
  job.workers = workers;
  job.buckets = {{elements, 0}};
  job.costs.alpha_s = 10e-6;
  job.network = {125e6, 100e-6};
  return job;
}

inline StepJob UniformServer(int workers, int shards, int64_t elements) {
  StepJob job = UniformRing(workers, elements);
  job.servers = true;
  job.shards = shards;
  return job;
}

inline StepJob Resnet50(int workers) {
  const auto shapes = PresetShapes("resnet50");
  StepJob job;
  job.workers = workers;
  job.buckets = BucketsOf(BucketPlan::Create(*shapes, 256 << 10, 4 << 20)->lengths());
  job.costs = {10e-6, 0.3e-9, 0.1e-9, 0.4e-9};
  job.compute = {0.04, 0.08, 0.005, 0.003, false};
  job.network = {25e9 / 8, 20e-6};
  return job;
}

inline std::vector<RankTimes> AllAtOnce(const StepJob& job) {
  const RankTimes times = {0, job.compute.before_backward_s, job.compute.backward_s,
                           job.compute.after_s};
  return std::vector<RankTimes>(job.workers, times);
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_MODEL_SAMPLE_JOBS_H_
