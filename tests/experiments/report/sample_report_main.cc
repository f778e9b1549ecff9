// Writes a report of made-up results, to look at: `sample_report FOLDER [grid|single|broken]`.
#include <cstdio>
#include <string>
#include <vector>

#include "common/logging.h"
#include "experiments/report/comparison.h"
#include "experiments/report/report_writer.h"
#include "tests/experiments/report/sample_runs.h"

int main(int argc, char** argv) {
  const std::string kind = argc > 2 ? argv[2] : "grid";
  if (argc < 2 || (kind != "grid" && kind != "single" && kind != "broken")) {
    std::fprintf(stderr, "usage: %s FOLDER [grid|single|broken]\n", argv[0]);
    return 2;
  }
  std::vector<ringside::RunResult> runs = ringside::SampleGrid(5, 300);
  if (kind == "single") runs = {runs[7]};
  if (kind == "broken") {
    runs[6].mutable_worker_results(3)->set_parameters_sha256(std::string(64, 'b'));
    runs[3].mutable_worker_results(1)->mutable_traffic()->set_messages_sent(7);
    (*runs[4].mutable_settings())["seed"] = "2";
  }
  const ringside::ComparisonResult comparison =
      ringside::BuildComparison(runs, ringside::SampleCommand(), ringside::SampleProvenance());
  return ringside::ExitStatus(ringside::WriteReport(comparison, argv[1]));
}
