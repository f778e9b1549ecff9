#include "experiments/report/verdict.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "experiments/report/cells.h"
#include "experiments/report/core_load.h"
#include "experiments/report/crossovers.h"
#include "experiments/report/number_text.h"
#include "experiments/report/point.h"
#include "experiments/report/series.h"

namespace ringside {
namespace {

// Cells at a place that have times and are no oracles.
std::vector<const Cell*> ContendersAt(const Place& place, const std::vector<Cell>& cells) {
  std::vector<const Cell*> contenders;
  for (const Cell& cell : cells) {
    if (StandsAt(cell, place) && !IsOracle(cell.strategy()) && cell.counted_steps() > 0)
      contenders.push_back(&cell);
  }
  return contenders;
}

// Two decimals, or three where two would hide that an interval ends short of 1.
std::string IntervalText(const Interval& interval) {
  const int decimals = interval.low() > 1 && interval.low() < 1.005 ? 3 : 2;
  return absl::StrFormat("95 %% interval %.*f to %.*f", decimals, interval.low(), decimals,
                         interval.high());
}

std::string ContrastText(const Contrast& contrast) {
  const std::string interval = IntervalText(contrast.ratio());
  if (contrast.trials() < kLeastTrials) {
    return absl::StrFormat(
        "%s took %.2f times as long a step as %s, but one trial is not enough to tell",
        contrast.slower(), contrast.ratio().median(), contrast.faster());
  }
  if (!contrast.significant()) {
    return absl::StrFormat("no significant difference between %s and %s (ratio %.2f, %s)",
                           contrast.slower(), contrast.faster(), contrast.ratio().median(),
                           interval);
  }
  return absl::StrFormat("%s is %.2f times as fast as %s (%s)", contrast.faster(),
                         contrast.ratio().median(), contrast.slower(), interval);
}

bool Has(absl::string_view strategy, const std::vector<const Cell*>& contenders) {
  return std::any_of(contenders.begin(), contenders.end(),
                     [strategy](const Cell* cell) { return cell->strategy() == strategy; });
}

// Where there are fewer than two contenders.
std::string SingleText(const std::vector<const Cell*>& contenders, const std::vector<Cell>& cells,
                       const Place& place, const SeriesNames& names) {
  const Cell* only = contenders.empty() ? nullptr : contenders.front();
  for (const Cell& cell : cells) {
    if (only == nullptr && StandsAt(cell, place) && cell.counted_steps() > 0) only = &cell;
  }
  if (only == nullptr) return "nothing to compare: there are no counted steps";
  return absl::StrCat(names.Of(*only), " alone, ", RoundedNumber(only->samples_per_s().median()),
                      " samples/s (median step ", Seconds(only->step_s().median()),
                      "); nothing to compare it with");
}

// Of the contender that has most threads for a core; empty where all have a core for each.
std::string OversubscriptionText(const std::vector<const Cell*>& contenders) {
  CoreLoad worst;
  for (const Cell* cell : contenders) {
    const CoreLoad load = LoadOf(*cell);
    if (load.oversubscribed() &&
        (worst.threads == 0 || load.threads * worst.cores > worst.threads * load.cores))
      worst = load;
  }
  return worst.threads == 0 ? "" : absl::StrCat("oversubscribed cores, ", LoadText(worst));
}

std::string PlaceVerdict(const Place& place, const std::vector<Cell>& cells,
                         const std::vector<Contrast>& contrasts, const SeriesNames& names) {
  const std::vector<const Cell*> contenders = ContendersAt(place, cells);
  std::vector<std::string> parts;
  for (const Contrast& contrast : contrasts) {
    if (PlaceText(contrast) == PlaceText(place.workers, place.point))
      parts.push_back(ContrastText(contrast));
  }
  if (place.workers == 1 && !parts.empty()) {
    if (Has("ring", contenders)) parts.push_back("a ring of one sends nothing");
    if (Has("direct", contenders)) parts.push_back("direct with one worker sends nothing");
  }
  if (parts.empty()) parts.push_back(SingleText(contenders, cells, place, names));
  const std::string oversubscription = OversubscriptionText(contenders);
  if (!oversubscription.empty()) parts.push_back(oversubscription);
  return absl::StrJoin(parts, "; ");
}

}  // namespace

std::vector<Contrast> BuildContrasts(const std::vector<Cell>& cells,
                                     const std::vector<RunResult>& runs) {
  const SeriesNames names(cells);
  std::vector<Contrast> contrasts;
  for (const Place& place : PlacesOf(cells)) {
    std::vector<const Cell*> ordered = ContendersAt(place, cells);
    std::stable_sort(ordered.begin(), ordered.end(), [](const Cell* a, const Cell* b) {
      return a->step_s().median() < b->step_s().median();
    });
    for (size_t i = 1; i < ordered.size(); ++i) {
      const Cell& faster = *ordered.front();
      const Cell& slower = *ordered[i];
      Contrast& contrast = contrasts.emplace_back();
      contrast.set_workers(place.workers);
      contrast.mutable_point()->insert(place.point.begin(), place.point.end());
      contrast.set_faster(names.Of(faster));
      contrast.set_slower(names.Of(slower));
      *contrast.mutable_ratio() = ToProto(
          MedianRatioInterval(StepTimes(RunsOf(slower, runs)), StepTimes(RunsOf(faster, runs))));
      contrast.set_trials(std::min(faster.trials(), slower.trials()));
      contrast.set_significant(contrast.trials() >= kLeastTrials && contrast.ratio().low() > 1);
    }
  }
  return contrasts;
}

std::vector<std::string> BuildVerdict(const std::vector<Cell>& cells,
                                      const std::vector<Contrast>& contrasts,
                                      const std::vector<Crossover>& crossovers,
                                      const std::vector<std::string>& effects,
                                      const std::vector<Gate>& gates) {
  std::vector<std::string> failed;
  for (const Gate& gate : gates) {
    if (!gate.passed()) failed.push_back(gate.name());
  }
  const SeriesNames names(cells);
  std::vector<std::string> verdict;
  if (failed.empty()) {
    for (const Crossover& crossover : crossovers) verdict.push_back(CrossoverText(crossover));
    verdict.insert(verdict.end(), effects.begin(), effects.end());
  }
  for (const Place& place : PlacesOf(cells)) {
    const std::string text = failed.empty() ? PlaceVerdict(place, cells, contrasts, names)
                                            : absl::StrCat("no verdict: failed the ",
                                                           failed.size() == 1 ? "gate " : "gates ",
                                                           absl::StrJoin(failed, ", "));
    verdict.push_back(absl::StrCat(PlaceText(place.workers, place.point), ": ", text));
  }
  if (verdict.empty()) verdict.push_back("no verdict: there is no run");
  return verdict;
}

}  // namespace ringside
