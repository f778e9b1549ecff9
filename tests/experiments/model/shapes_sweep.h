// Made-up results of a sweep of the workload shapes: what the simulator says under a known cost
// model, with noise.
#ifndef RINGSIDE_TESTS_EXPERIMENTS_MODEL_SHAPES_SWEEP_H_
#define RINGSIDE_TESTS_EXPERIMENTS_MODEL_SHAPES_SWEEP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

struct ShapesSweep {
  std::vector<std::string> networks = {"200mbit,100us", "500mbit,100us", "1gbit,100us"};
  std::vector<int> workers = {2, 4};
  std::vector<std::string> strategies = {"ring", "ps"};
  std::string placement = "dedicated";
  std::string model_args = "preset=resnet18,compute_ms=50";
  int shards = 1;
  int trials = 3;
  int64_t steps = 20;
  double noise = 0.01;      // standard deviation of a step, relative
  int64_t checkpoints = 0;  // written by worker 0, each of which stops training for 2 ms
};

// Ring and ps with costs of their own, 97 % of the shaped bandwidth.
CostModel TrueModel();

// Runs with step records and shards, all on one machine of 2 cores.
ComparisonResult MakeSweep(const ShapesSweep& sample);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_MODEL_SHAPES_SWEEP_H_
