#include "experiments/report/result_diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "experiments/report/cells.h"
#include "experiments/report/comparability.h"
#include "experiments/report/mean_test.h"
#include "experiments/report/number_text.h"
#include "experiments/report/point.h"
#include "experiments/report/series.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/verdict.h"
#include "experiments/report/warnings.h"

namespace ringside {
namespace {

constexpr double kLevel = 0.05;

using Values = std::map<std::string, std::string>;

// One of the two results.
struct Side {
  const char* name;
  const ComparisonResult* result;
  std::vector<RunResult> runs;
  std::vector<Cell> cells;
};

std::vector<RunResult> RunsIn(const ComparisonResult& result) {
  return {result.runs().begin(), result.runs().end()};
}

// Along what either of them varies.
PointSpace CommonSpace(const ComparisonResult& a, const ComparisonResult& b) {
  std::vector<RunResult> runs = RunsIn(a);
  runs.insert(runs.end(), b.runs().begin(), b.runs().end());
  std::vector<std::string> varied(a.varied().begin(), a.varied().end());
  varied.insert(varied.end(), b.varied().begin(), b.varied().end());
  return {runs, varied};
}

// Series are named alike in both.
SeriesNames CommonNames(const Side& a, const Side& b) {
  std::vector<Cell> cells = a.cells;
  cells.insert(cells.end(), b.cells.begin(), b.cells.end());
  return SeriesNames(cells);
}

// Logarithms of the medians of the trials that have counted steps.
std::vector<double> LogMedians(const Cell& cell, const std::vector<RunResult>& runs) {
  std::vector<double> logs;
  for (const std::vector<double>& trial : StepTimes(RunsOf(cell, runs))) {
    if (!trial.empty()) logs.push_back(std::log(Median(trial)));
  }
  return logs;
}

// A cell that is in both.
struct Match {
  size_t row;
  std::vector<double> a;  // logarithms of the trials' medians
  std::vector<double> b;
};

void Judge(const std::vector<Match>& matches, double tolerance, std::vector<DiffRow>* rows) {
  const double shift = std::log1p(tolerance);
  std::vector<double> slower;
  std::vector<double> faster;
  for (const Match& match : matches) {
    slower.push_back(ProbabilityOfExcess(match.b, match.a, shift));
    faster.push_back(ProbabilityOfExcess(match.a, match.b, shift));
  }
  const std::vector<bool> is_slower = SignificantTogether(slower, kLevel);
  const std::vector<bool> is_faster = SignificantTogether(faster, kLevel);
  for (size_t i = 0; i < matches.size(); ++i) {
    DiffRow& row = (*rows)[matches[i].row];
    const Interval& ratio = row.ratio;
    if (std::min(matches[i].a.size(), matches[i].b.size()) < kLeastTrials) {
      row.change = Change::kTooFewTrials;
    } else if (is_slower[i] && ratio.low() > 1 + tolerance) {
      row.change = Change::kSlower;
    } else if (is_faster[i] && ratio.high() < 1 / (1 + tolerance)) {
      row.change = Change::kFaster;
    } else if (ratio.low() >= 1 / (1 + tolerance) && ratio.high() <= 1 + tolerance) {
      row.change = Change::kWithinTolerance;
    } else {
      row.change = Change::kWithinNoise;
    }
  }
}

// Every value that the runs of a result have for what must not differ, by name.
Values ValuesOf(const std::vector<RunResult>& runs, Values (*values_of)(const RunResult&),
                const PointSpace& space) {
  std::map<std::string, std::set<std::string>> distinct;
  for (const RunResult& run : runs) {
    for (const auto& [name, value] : values_of(run)) {
      if (!space.Varies(name)) distinct[name].insert(value);
    }
  }
  Values joined;
  for (const auto& [name, values] : distinct) joined[name] = absl::StrJoin(values, " | ");
  return joined;
}

Values SettingsOf(const RunResult& run) {
  Values values;
  for (const auto& [name, value] : run.settings()) {
    if (!MayDiffer(name)) values[name] = value;
  }
  values["parameters"] = absl::StrCat(run.parameter_elements());
  return values;
}

void WarnOfDifferences(const Side& a, const Side& b, const PointSpace& space,
                       std::vector<std::string>& warnings) {
  struct Kind {
    const char* what;
    Values (*values_of)(const RunResult&);
  };
  for (const Kind& kind : {Kind{"Other machine", &MachineOf}, Kind{"Other build", &BuildOf},
                           Kind{"Other settings", &SettingsOf}}) {
    const std::vector<std::string> differences =
        DescribeDifferences(ValuesOf(a.runs, kind.values_of, space), a.name,
                            ValuesOf(b.runs, kind.values_of, space), b.name);
    if (!differences.empty())
      warnings.push_back(absl::StrCat(kind.what, ": ", absl::StrJoin(differences, "; "), "."));
  }
}

void WarnOfSide(const Side& side, std::vector<std::string>& warnings) {
  for (const Gate& gate : side.result->gates()) {
    if (!gate.passed())
      warnings.push_back(
          absl::StrCat(side.name, " failed the gate ", gate.name(), ": ", gate.detail(), "."));
  }
  const SeriesNames names(side.cells);
  for (const Cell& cell : side.cells) {
    if (cell.cv() <= kNoisyCv) continue;
    warnings.push_back(absl::StrCat("Noisy in ", side.name, ": the trials of ", names.Of(cell),
                                    " with ", PlaceText(cell.workers(), PointOf(cell)), " vary by ",
                                    Percent(cell.cv(), 1), "."));
  }
}

// Letters of UTF-8: bytes that do not go on with one.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string ChangeText(Change change) {
  switch (change) {
    case Change::kFaster:
      return "faster";
    case Change::kSlower:
      return "slower";
    case Change::kWithinNoise:
      return "same within noise";
    case Change::kWithinTolerance:
      return "same";
    case Change::kTooFewTrials:
      return "too few trials to tell";
    case Change::kOnlyInA:
      return "only in A";
    case Change::kOnlyInB:
      return "only in B";
  }
  return "";
}

ResultDiff DiffResults(const ComparisonResult& a, const ComparisonResult& b, double tolerance) {
  const PointSpace space = CommonSpace(a, b);
  const Side sides[] = {{"A", &a, RunsIn(a), BuildCells(RunsIn(a), space)},
                        {"B", &b, RunsIn(b), BuildCells(RunsIn(b), space)}};
  const SeriesNames names = CommonNames(sides[0], sides[1]);
  using Key = std::tuple<int, Point, std::string>;
  std::vector<Key> order;
  std::map<Key, const Cell*> found[2];
  for (size_t side = 0; side < 2; ++side) {
    for (const Cell& cell : sides[side].cells) {
      if (cell.counted_steps() == 0) continue;
      const Key key(cell.workers(), PointOf(cell), names.Of(cell));
      found[side].emplace(key, &cell);
      if (std::find(order.begin(), order.end(), key) == order.end()) order.push_back(key);
    }
  }
  ResultDiff diff;
  std::vector<Match> matches;
  for (const Key& key : order) {
    DiffRow& row = diff.rows.emplace_back();
    row.workers = std::get<0>(key);
    row.point = PointText(std::get<1>(key));
    row.series = std::get<2>(key);
    const auto of_a = found[0].find(key);
    const auto of_b = found[1].find(key);
    if (of_a != found[0].end()) row.a = of_a->second->step_s();
    if (of_b != found[1].end()) row.b = of_b->second->step_s();
    if (of_a == found[0].end() || of_b == found[1].end()) {
      row.change = of_a == found[0].end() ? Change::kOnlyInB : Change::kOnlyInA;
      continue;
    }
    row.ratio = ToProto(MedianRatioInterval(StepTimes(RunsOf(*of_b->second, sides[1].runs)),
                                            StepTimes(RunsOf(*of_a->second, sides[0].runs))));
    matches.push_back({diff.rows.size() - 1, LogMedians(*of_a->second, sides[0].runs),
                       LogMedians(*of_b->second, sides[1].runs)});
    if (of_a->second->global_batch_size() != of_b->second->global_batch_size()) {
      diff.warnings.push_back(absl::StrCat("Other batch: that of ", row.series, " with ",
                                           PlaceText(row.workers, std::get<1>(key)), " is ",
                                           of_a->second->global_batch_size(), " in A and ",
                                           of_b->second->global_batch_size(), " in B."));
    }
  }
  Judge(matches, tolerance, &diff.rows);
  diff.comparable = !matches.empty();
  diff.regressed = std::any_of(diff.rows.begin(), diff.rows.end(),
                               [](const DiffRow& row) { return row.change == Change::kSlower; });
  WarnOfDifferences(sides[0], sides[1], space, diff.warnings);
  for (const Side& side : sides) WarnOfSide(side, diff.warnings);
  return diff;
}

std::string DiffText(const ResultDiff& diff, double tolerance) {
  std::vector<std::vector<std::string>> lines = {{"", "A", "B", "B / A", "95 % interval", ""}};
  for (const DiffRow& row : diff.rows) {
    const bool both = row.change != Change::kOnlyInA && row.change != Change::kOnlyInB;
    const auto interval = [](const Interval& step) {
      return step.median() > 0 ? Seconds(step.median()) : "-";
    };
    lines.push_back(
        {absl::StrCat(row.series, ", ", Counted(row.workers, "worker"),
                      row.point.empty() ? "" : ", ", row.point),
         interval(row.a), interval(row.b), both ? FixedNumber(row.ratio.median(), 3) : "-",
         both ? absl::StrFormat("%.3f to %.3f", row.ratio.low(), row.ratio.high()) : "-",
         ChangeText(row.change)});
  }
  std::vector<size_t> widths(lines.front().size(), 0);
  for (const std::vector<std::string>& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], WidthOf(line[i]));
  }
  std::string text;
  for (const std::vector<std::string>& line : lines) {
    std::string padded;
    for (size_t i = 0; i < line.size(); ++i)
      absl::StrAppend(&padded, line[i], std::string(widths[i] - WidthOf(line[i]) + 2, ' '));
    absl::StrAppend(&text, padded.substr(0, padded.find_last_not_of(' ') + 1), "\n");
  }
  for (const std::string& warning : diff.warnings)
    absl::StrAppend(&text, "warning: ", warning, "\n");
  const auto slower = std::count_if(diff.rows.begin(), diff.rows.end(), [](const DiffRow& row) {
    return row.change == Change::kSlower;
  });
  absl::StrAppend(&text,
                  slower > 0 ? absl::StrCat(slower,
                                            " significantly slower in B than in A, by more "
                                            "than ")
                             : "nothing is significantly slower in B than in A, by more than ",
                  Percent(tolerance, 1), "\n");
  return text;
}

}  // namespace ringside
