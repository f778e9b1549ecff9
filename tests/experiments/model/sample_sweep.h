// Made-up results of a sweep: what the simulator says under a known cost model, with noise.
#ifndef RINGSIDE_TESTS_EXPERIMENTS_MODEL_SAMPLE_SWEEP_H_
#define RINGSIDE_TESTS_EXPERIMENTS_MODEL_SAMPLE_SWEEP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

struct SampleSweep {
  std::vector<std::string> networks = {"200mbit,100us", "500mbit,100us", "1gbit,100us"};
  std::vector<int> workers = {2, 4};
  std::vector<std::string> strategies = {"ring", "ps"};
  std::string placement = "dedicated";
  std::string model_args = "preset=resnet18,compute_ms=50";
  int shards = 1;
  int trials = 3;
  int64_t steps = 20;
  double noise = 0.01;  // standard deviation of a step, relative
  int cores = 2;
};

// Ring and ps with costs of their own, 97 % of the shaped bandwidth.
CostModel TrueModel();

// Runs of the workload shapes, with step records and shards.
ComparisonResult MakeSweep(const SampleSweep& sample);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_MODEL_SAMPLE_SWEEP_H_
