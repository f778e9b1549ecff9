#include "experiments/model/prediction_figures.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/number_text.h"
#include "experiments/report/plot_script.h"
#include "experiments/report/svg_theme.h"

namespace ringside {
namespace {

struct Line {
  const char* series;
  const char* colour;
};
// The colours of the report (experiments/report/series.cc).
constexpr Line kLines[] = {
    {"ring", "#d9620b"}, {"ps, dedicated", "#2b7bd4"}, {"ps, colocated", "#a35bd6"}};

std::string WorkersAxis(const Forecast& forecast) {
  std::set<int> workers;
  for (const ForecastRow& row : forecast.rows()) workers.insert(row.workers());
  std::vector<std::string> marks;
  for (int count : workers) marks.push_back(absl::StrCat("'", count, "' ", count));
  return absl::StrFormat("set logscale x 2\nset xrange [%g:%g]\nset xtics (%s)\n",
                         *workers.begin() * 0.8, *workers.rbegin() * 1.25,
                         absl::StrJoin(marks, ", "));
}

// 0 stands for what is not known.
std::string PositiveNumber(double value) { return value > 0 ? ExactNumber(value) : ""; }

std::string Csv(const Prediction& prediction) {
  const bool fails = !prediction.under_failures.empty();
  std::vector<std::string> header = {"strategy",    "placement",   "workers",   "shards",
                                     "predicted_s", "simulated_s", "efficiency"};
  if (fails) {
    header.insert(header.end(), {"processes", "job_mtbf_s", "checkpoint_steps", "goodput",
                                 "simulated_goodput", "effective_step_s"});
  }
  CsvTable csv(header);
  for (int i = 0; i < prediction.forecast.rows_size(); ++i) {
    const ForecastRow& row = prediction.forecast.rows(i);
    std::vector<std::string> fields = {row.strategy(),
                                       row.placement(),
                                       absl::StrCat(row.workers()),
                                       absl::StrCat(row.shards()),
                                       ExactNumber(row.predicted_s()),
                                       PositiveNumber(row.simulated_s()),
                                       ExactNumber(row.efficiency())};
    if (fails) {
      const FailureEstimate& failures = prediction.under_failures[i];
      fields.insert(fields.end(),
                    {absl::StrCat(failures.processes), ExactNumber(failures.mtbf_s),
                     absl::StrCat(failures.checkpoint_steps), ExactNumber(failures.goodput),
                     PositiveNumber(failures.simulated_goodput), ExactNumber(failures.step_s)});
    }
    csv.AddRow(fields);
  }
  return csv.Text();
}

// Marks at 1, 2 and 5 times the powers of ten.
std::string LogarithmicAxis(double least, double most) {
  std::vector<std::string> marks;
  for (double power = std::pow(10, std::floor(std::log10(least / 1.5))); power < most * 1.5;
       power *= 10) {
    for (int factor : {1, 2, 5}) marks.push_back(absl::StrFormat("%g", factor * power));
  }
  return absl::StrFormat("set logscale y 10\nset yrange [%g:%g]\nset ytics (%s)\n", least / 1.5,
                         most * 1.5, absl::StrJoin(marks, ", "));
}

// One line a series; `value` of each row and of what failures make of it, nullptr where they were
// not asked about.
template <typename Value>
void Draw(const Prediction& prediction, const Value& value, bool logarithmic, Figure* figure) {
  std::vector<std::string> plots;
  std::vector<LegendEntry> legend;
  double most = 0;
  double least = 0;
  for (const Line& line : kLines) {
    // The formula between the numbers of workers that were asked about, and marks at those.
    const std::vector<ForecastRow> marked(prediction.forecast.rows().begin(),
                                          prediction.forecast.rows().end());
    const int block = static_cast<int>(plots.size());
    for (const std::vector<ForecastRow>* rows : {&prediction.curve, &marked}) {
      const std::vector<FailureEstimate>& failures =
          rows == &marked ? prediction.under_failures : prediction.curve_under_failures;
      for (size_t i = 0; i < rows->size(); ++i) {
        const ForecastRow& row = (*rows)[i];
        if (SeriesOf(row) != line.series) continue;
        const double y = value(row, failures.empty() ? nullptr : &failures[i]);
        most = std::max(most, y);
        least = least > 0 ? std::min(least, y) : y;
        absl::StrAppend(&figure->data, row.workers(), " ", ExactNumber(y), "\n");
      }
      figure->data += "\n\n";
    }
    plots.push_back(
        absl::StrFormat("'data' index %d with lines lw 2 lc rgb '%s'", block, line.colour));
    plots.push_back(absl::StrFormat("'data' index %d with points pt 7 ps 0.6 lc rgb '%s'",
                                    block + 1, line.colour));
    legend.push_back({line.series, line.colour});
  }
  std::string marks;
  for (const Crossover& crossover : prediction.crossovers) {
    if (crossover.setting() != "workers") continue;
    absl::StrAppendFormat(&marks,
                          "set arrow from %g, graph 0 to %g, graph 1 nohead dt 2 lc rgb '%s'\n",
                          crossover.value().median(), crossover.value().median(), kInkSentinel);
  }
  figure->csv = Csv(prediction);
  figure->script = absl::StrCat(PlotStyle(), PlotLegend(legend, *figure),
                                WorkersAxis(prediction.forecast), PlotAxisLabel("x", "workers"),
                                logarithmic ? LogarithmicAxis(least, most) : PlotRoundAxis(most),
                                figure->script, marks, PlotCommand(plots));
}

constexpr char kPercentAxis[] = "set lmargin 8\nset format y '%.0f %%'\n";

Figure GoodputFigure(const Prediction& prediction) {
  Figure goodput;
  goodput.name = "predicted_goodput";
  goodput.title = "Predicted goodput under failures";
  goodput.caption =
      "Time of the steps that count over all time: the rest is checkpoints, restarts, and steps "
      "that are done again because they were lost.";
  goodput.script = kPercentAxis;
  Draw(
      prediction,
      [](const ForecastRow&, const FailureEstimate* failures) { return failures->goodput * 100; },
      false, &goodput);
  return goodput;
}

}  // namespace

std::vector<Figure> PredictionFigures(const Prediction& prediction) {
  Figure step;
  step.name = "predicted_step";
  step.title = "Predicted step time";
  step.caption = absl::StrCat(
      "Seconds of a step by the fitted formulas. A dashed line marks where ring and ps on hosts of "
      "its own change places",
      prediction.under_failures.empty() ? "." : ", what failures cost counted in.");
  step.script = "set lmargin 11\nset format y '%g ms'\n";
  Draw(
      prediction,
      [](const ForecastRow& row, const FailureEstimate*) { return row.predicted_s() * 1e3; }, true,
      &step);
  Figure efficiency;
  efficiency.name = "predicted_efficiency";
  efficiency.title = "Predicted efficiency";
  efficiency.caption = "Samples/s of a worker over those of a worker that does not communicate.";
  efficiency.script = kPercentAxis;
  Draw(
      prediction,
      [](const ForecastRow& row, const FailureEstimate*) { return row.efficiency() * 100; }, false,
      &efficiency);
  std::vector<Figure> figures = {std::move(step), std::move(efficiency)};
  if (!prediction.under_failures.empty()) figures.push_back(GoodputFigure(prediction));
  return figures;
}

}  // namespace ringside
