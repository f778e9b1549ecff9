#include "experiments/report/verdict.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "experiments/report/cells.h"
#include "experiments/report/number_text.h"
#include "experiments/report/series.h"

namespace ringside {
namespace {

constexpr int kLeastTrials = 2;

// Contenders that have times, by number of workers.
std::map<int, std::vector<const Cell*>> ContendersByWorkers(const std::vector<Cell>& cells) {
  std::map<int, std::vector<const Cell*>> contenders;
  for (const Cell& cell : cells) {
    std::vector<const Cell*>& there = contenders[cell.workers()];
    if (!IsOracle(cell.strategy()) && cell.counted_steps() > 0) there.push_back(&cell);
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
                       int workers, const SeriesNames& names) {
  const Cell* only = contenders.empty() ? nullptr : contenders.front();
  for (const Cell& cell : cells) {
    if (only == nullptr && cell.workers() == workers && cell.counted_steps() > 0) only = &cell;
  }
  if (only == nullptr) return "nothing to compare: there are no counted steps";
  return absl::StrCat(names.Of(*only), " alone, ", RoundedNumber(only->samples_per_s().median()),
                      " samples/s (median step ", Seconds(only->step_s().median()),
                      "); nothing to compare it with");
}

}  // namespace

std::vector<Contrast> BuildContrasts(const std::vector<Cell>& cells,
                                     const std::vector<RunResult>& runs) {
  const SeriesNames names(cells);
  std::vector<Contrast> contrasts;
  for (auto& [workers, contenders] : ContendersByWorkers(cells)) {
    std::vector<const Cell*> ordered = contenders;
    std::stable_sort(ordered.begin(), ordered.end(), [](const Cell* a, const Cell* b) {
      return a->step_s().median() < b->step_s().median();
    });
    for (size_t i = 1; i < ordered.size(); ++i) {
      const Cell& faster = *ordered.front();
      const Cell& slower = *ordered[i];
      Contrast& contrast = contrasts.emplace_back();
      contrast.set_workers(workers);
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
                                      const std::vector<Gate>& gates) {
  std::vector<std::string> failed;
  for (const Gate& gate : gates) {
    if (!gate.passed()) failed.push_back(gate.name());
  }
  const SeriesNames names(cells);
  std::vector<std::string> verdict;
  for (const auto& [workers, contenders] : ContendersByWorkers(cells)) {
    std::vector<std::string> parts;
    for (const Contrast& contrast : contrasts) {
      if (contrast.workers() == workers) parts.push_back(ContrastText(contrast));
    }
    if (workers == 1 && !parts.empty()) {
      if (Has("ring", contenders)) parts.push_back("a ring of one sends nothing");
      if (Has("direct", contenders)) parts.push_back("direct with one worker sends nothing");
    }
    std::string text =
        parts.empty() ? SingleText(contenders, cells, workers, names) : absl::StrJoin(parts, "; ");
    if (!failed.empty()) {
      text = absl::StrCat("no verdict: failed the ", failed.size() == 1 ? "gate " : "gates ",
                          absl::StrJoin(failed, ", "));
    }
    verdict.push_back(absl::StrCat(Counted(workers, "worker"), ": ", text));
  }
  if (verdict.empty()) verdict.push_back("no verdict: there is no run");
  return verdict;
}

}  // namespace ringside
