#include "experiments/report/comparison.h"

#include <algorithm>

#include "experiments/report/cells.h"
#include "experiments/report/gates.h"
#include "experiments/report/verdict.h"
#include "experiments/report/warnings.h"

namespace ringside {

ComparisonResult BuildComparison(const std::vector<RunResult>& runs,
                                 const std::vector<std::string>& command,
                                 const Provenance& provenance, const SweepFacts& sweep) {
  const std::vector<Gate> gates = AllGates(runs);
  const std::vector<Cell> cells = BuildCells(runs);
  const std::vector<Contrast> contrasts = BuildContrasts(cells, runs);
  ComparisonResult comparison;
  comparison.set_schema_version(kResultsSchemaVersion);
  *comparison.mutable_command() = {command.begin(), command.end()};
  *comparison.mutable_provenance() = provenance;
  *comparison.mutable_runs() = {runs.begin(), runs.end()};
  *comparison.mutable_gates() = {gates.begin(), gates.end()};
  *comparison.mutable_cells() = {cells.begin(), cells.end()};
  *comparison.mutable_contrasts() = {contrasts.begin(), contrasts.end()};
  for (const std::string& line : BuildVerdict(cells, contrasts, gates))
    comparison.add_verdict(line);
  comparison.set_question(sweep.question);
  *comparison.mutable_varied() = {sweep.varied.begin(), sweep.varied.end()};
  for (const std::string& line : sweep.warnings) comparison.add_warnings(line);
  for (const std::string& line : BuildWarnings(runs, cells)) comparison.add_warnings(line);
  return comparison;
}

bool AllGatesPassed(const ComparisonResult& comparison) {
  return std::all_of(comparison.gates().begin(), comparison.gates().end(),
                     [](const Gate& gate) { return gate.passed(); });
}

}  // namespace ringside
