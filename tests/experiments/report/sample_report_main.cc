// Writes a report of made-up results, to look at: `sample_report FOLDER [KIND]`; or, with a path of
// a results.json in place of KIND, that of stored ones, as they are.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "common/logging.h"
#include "experiments/report/comparison.h"
#include "experiments/report/report_writer.h"
#include "tests/experiments/report/sample_runs.h"
#include "tests/experiments/report/sample_sweep.h"

namespace ringside {
namespace {

ComparisonResult Build(const std::vector<RunResult>& runs) {
  return BuildComparison(runs, SampleCommand(), SampleProvenance());
}

ComparisonResult Broken() {
  std::vector<RunResult> runs = SampleGrid(5, 300);
  runs[6].mutable_worker_results(3)->set_parameters_sha256(std::string(64, 'b'));
  runs[3].mutable_worker_results(1)->mutable_traffic()->set_messages_sent(7);
  (*runs[4].mutable_settings())["seed"] = "2";
  return Build(runs);
}

// With the machine's ceilings.
ComparisonResult Probed() {
  std::vector<RunResult> runs;
  for (const char* strategy : {"ps", "ring"}) {
    SampleRun sample;
    sample.strategy = strategy;
    sample.steps = 4;
    sample.warmup_steps = 1;
    sample.is_probed = true;
    runs.push_back(MakeRun(sample));
  }
  return Build(runs);
}

// Modes of the parameter server, with checkpoints.
ComparisonResult Modes() {
  std::vector<RunResult> runs;
  for (int trial = 1; trial <= 5; ++trial) {
    double step_s = 0.018;
    for (const char* strategy : {"ps", "ps async", "ps ssp 3", "ring", "data_parallel"}) {
      for (const int workers : {1, 2, 4}) {
        SampleRun sample;
        sample.strategy = strategy;
        sample.workers = workers;
        sample.trial = trial;
        sample.steps = 200;
        sample.batch_size = 128 / workers;
        sample.step_s = step_s / (0.6 + 0.4 * workers);
        sample.noise = 0.1;
        sample.checkpoints = 4;
        runs.push_back(MakeRun(sample));
      }
      step_s *= 0.93;
    }
  }
  return Build(runs);
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  using ringside::Build;
  const std::map<std::string, ringside::ComparisonResult (*)()> kinds = {
      {"grid", [] { return Build(ringside::SampleGrid(5, 300)); }},
      {"single", [] { return Build({ringside::MakeRun({})}); }},
      {"broken", ringside::Broken},
      {"modes", ringside::Modes},
      {"sweep", [] { return ringside::SampleSweep(5, 60); }},
      // As stored in testdata.
      {"small_grid", [] { return Build(ringside::SampleGrid(2, 12)); }},
      {"small_sweep", [] { return ringside::SampleSweep(2, 4); }},
      {"small_probed", ringside::Probed},
  };
  const std::string wanted = argc > 2 ? argv[2] : "grid";
  if (absl::EndsWith(wanted, ".json")) {
    const auto stored = ringside::ReadComparison(wanted);
    return ringside::ExitStatus(stored.ok() ? ringside::WriteReport(*stored, argv[1])
                                            : stored.status());
  }
  const auto kind = kinds.find(wanted);
  if (argc < 2 || kind == kinds.end()) {
    std::fprintf(stderr, "usage: %s FOLDER [KIND]; kinds:", argv[0]);
    for (const auto& entry : kinds) std::fprintf(stderr, " %s", entry.first.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  return ringside::ExitStatus(ringside::WriteReport(kind->second(), argv[1]));
}
