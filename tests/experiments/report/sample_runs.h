// Made-up results for tests: plausible, exact, the same every time.
#ifndef RINGSIDE_TESTS_EXPERIMENTS_REPORT_SAMPLE_RUNS_H_
#define RINGSIDE_TESTS_EXPERIMENTS_REPORT_SAMPLE_RUNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

struct SampleRun {
  // direct: a ring that was asked for the direct schedule; "ps ssp 3": a parameter server with
  // --ps_mode=ssp --staleness=3.
  std::string strategy = "ring";
  int workers = 2;
  int shards = 0;  // 2 for ps where left at 0
  int64_t trial = 0;
  int64_t steps = 30;
  int64_t warmup_steps = 10;
  int batch_size = 64;
  double step_s = 0.010;  // of every step and rank, before noise
  double noise = 0;       // relative; 0: all steps alike
  std::string link = "";  // of ring: tcp where left empty; of direct: shm; of ps: not told
  std::string wire_dtype = "fp32";
  int slow_rank = -1;  // its own work takes longer by slow_s, which the others wait
  double slow_s = 0;
  bool arrivals = true;       // recorded: rank r hands over its buckets 20 us after rank r - 1
  int64_t checkpoints = 0;    // written by worker 0, each of which stops training for 2 ms
  double bandwidth_mbit = 0;  // of an emulated network with a host for every process; 0: none
  bool is_probed = false;     // `ringside` launched it and found the machine's ceilings
};

// A run that passes every gate. Traffic follows the formulas for 1,000 parameters and one bucket.
RunResult MakeRun(const SampleRun& sample);

// ps, ring and local at 1, 2 and 4 workers with a global batch of 128, `trials` each, as a 2-core
// machine might give.
std::vector<RunResult> SampleGrid(int trials, int64_t steps);

Provenance SampleProvenance();
std::vector<std::string> SampleCommand();

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_REPORT_SAMPLE_RUNS_H_
