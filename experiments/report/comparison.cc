#include "experiments/report/comparison.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "experiments/report/cells.h"
#include "experiments/report/crossovers.h"
#include "experiments/report/effects.h"
#include "experiments/report/gates.h"
#include "experiments/report/point.h"
#include "experiments/report/verdict.h"
#include "experiments/report/warnings.h"

namespace ringside {

namespace {

GateRules RulesFor(const std::vector<RunResult>& runs, const SweepFacts& sweep,
                   Inequality inequality) {
  GateRules rules;
  rules.asked = PointSpace(runs, sweep.varied);
  rules.space = rules.asked;
  rules.allow_unequal = inequality == Inequality::kAllowed;
  if (!rules.allow_unequal) return rules;
  std::vector<std::string> varied = sweep.varied;
  const std::vector<std::string> splitting = SplittingSettings(runs, rules.asked);
  varied.insert(varied.end(), splitting.begin(), splitting.end());
  rules.space = PointSpace(runs, varied);
  return rules;
}

// Those of the runs, the sweep's own, and what was allowed to differ.
std::vector<std::string> AllWarnings(const std::vector<RunResult>& runs,
                                     const std::vector<Cell>& cells, const std::vector<Gate>& gates,
                                     const PointSpace& space, const SweepFacts& sweep) {
  std::vector<std::string> warnings;
  for (const Gate& gate : gates) {
    if (AllowedToDiffer(gate)) warnings.push_back(absl::StrCat("Unequal runs: ", gate.detail()));
  }
  const std::vector<std::string> of_runs = BuildWarnings(runs, cells, space);
  warnings.insert(warnings.end(), of_runs.begin(), of_runs.end());
  warnings.insert(warnings.end(), sweep.warnings.begin(), sweep.warnings.end());
  return warnings;
}

}  // namespace

ComparisonResult BuildComparison(const std::vector<RunResult>& runs,
                                 const std::vector<std::string>& command,
                                 const Provenance& provenance, const SweepFacts& sweep,
                                 Inequality inequality) {
  const GateRules rules = RulesFor(runs, sweep, inequality);
  const std::vector<Gate> gates = AllGates(runs, rules);
  const std::vector<Cell> cells = BuildCells(runs, rules.space);
  const std::vector<Contrast> contrasts = BuildContrasts(cells, runs);
  const bool comparable =
      std::all_of(gates.begin(), gates.end(), [](const Gate& gate) { return gate.passed(); });
  // Whoever shows them would show a verdict.
  const std::vector<Crossover> crossovers =
      comparable ? BuildCrossovers(cells, runs) : std::vector<Crossover>();
  const std::vector<std::string> verdict =
      BuildVerdict(cells, contrasts, crossovers, DescribeEffects(cells, runs), gates);
  const std::vector<std::string> warnings = AllWarnings(runs, cells, gates, rules.space, sweep);
  ComparisonResult comparison;
  comparison.set_schema_version(kResultsSchemaVersion);
  *comparison.mutable_command() = {command.begin(), command.end()};
  *comparison.mutable_provenance() = provenance;
  *comparison.mutable_runs() = {runs.begin(), runs.end()};
  *comparison.mutable_gates() = {gates.begin(), gates.end()};
  *comparison.mutable_cells() = {cells.begin(), cells.end()};
  *comparison.mutable_contrasts() = {contrasts.begin(), contrasts.end()};
  *comparison.mutable_crossovers() = {crossovers.begin(), crossovers.end()};
  *comparison.mutable_verdict() = {verdict.begin(), verdict.end()};
  *comparison.mutable_warnings() = {warnings.begin(), warnings.end()};
  comparison.set_question(sweep.question);
  *comparison.mutable_varied() = {sweep.varied.begin(), sweep.varied.end()};
  *comparison.mutable_sweep_warnings() = {sweep.warnings.begin(), sweep.warnings.end()};
  comparison.set_allow_unequal(rules.allow_unequal);
  return comparison;
}

SweepFacts FactsOf(const ComparisonResult& comparison) {
  return {comparison.question(),
          {comparison.varied().begin(), comparison.varied().end()},
          {comparison.sweep_warnings().begin(), comparison.sweep_warnings().end()}};
}

ComparisonResult RebuildComparison(const ComparisonResult& stored, Inequality inequality) {
  const bool allowed = stored.allow_unequal() || inequality == Inequality::kAllowed;
  ComparisonResult rebuilt =
      BuildComparison({stored.runs().begin(), stored.runs().end()},
                      {stored.command().begin(), stored.command().end()}, stored.provenance(),
                      FactsOf(stored), allowed ? Inequality::kAllowed : Inequality::kRefused);
  if (stored.has_forecast()) *rebuilt.mutable_forecast() = stored.forecast();
  return rebuilt;
}

bool AllGatesPassed(const ComparisonResult& comparison) {
  return std::all_of(comparison.gates().begin(), comparison.gates().end(),
                     [](const Gate& gate) { return gate.passed(); });
}

}  // namespace ringside
