#include "experiments/report/forecast_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/number_text.h"
#include "experiments/report/plot_script.h"
#include "experiments/report/series.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/statistics.h"
#include "experiments/report/svg_theme.h"

namespace ringside {
namespace {

bool Measured(const ForecastRow& row) {
  return row.has_measured_s() && row.measured_s().median() > 0;
}
bool HeldOut(const ForecastRow& row) { return Measured(row) && !row.in_fit(); }

// Colours as of the cells, so that a strategy looks the same in every figure.
class Colours {
 public:
  explicit Colours(const ComparisonResult& comparison)
      : names_({comparison.cells().begin(), comparison.cells().end()}),
        foretold_names_(ForetoldCells(comparison)) {}

  std::string Of(const std::string& strategy) const {
    for (const std::string& series : names_.all()) {
      if (series == strategy) return names_.Colour(series);
    }
    return foretold_names_.Colour(strategy);
  }

 private:
  static std::vector<Cell> ForetoldCells(const ComparisonResult& comparison) {
    std::vector<Cell> cells;
    for (const ForecastRow& row : comparison.forecast().rows())
      cells.emplace_back().set_strategy(row.strategy());
    return cells;
  }

  const SeriesNames names_;
  const SeriesNames foretold_names_;
};

// "network 200mbit, dedicated, 1 shard"
std::string Setup(const ForecastRow& row) {
  std::string text = PointText(row.point());
  if (!row.placement().empty() && row.point().count("placement") == 0)
    absl::StrAppend(&text, text.empty() ? "" : ", ", row.placement());
  if (row.shards() > 0 && row.point().count("ps_shards") == 0)
    absl::StrAppend(&text, text.empty() ? "" : ", ", Counted(row.shards(), "shard"));
  return text;
}

Field ErrorField(const ForecastRow& row) {
  if (!Measured(row)) return NoValue();
  const double error = ForecastError(row);
  return {absl::StrCat(error < 0 ? "−" : "+", Percent(std::abs(error), 1))};
}

Field KindField(const ForecastRow& row) {
  if (HeldOut(row)) return {"held out", Field::Kind::kPass};
  return {Measured(row) ? "seen by the fit" : "not measured"};
}

std::vector<Field> RowFields(const ForecastRow& row, const Colours& colours) {
  const Interval& measured = row.measured_s();
  return {
      KindField(row),
      {absl::StrCat(row.workers())},
      {row.strategy(), Field::Kind::kSeries, "", colours.Of(row.strategy())},
      {Setup(row)},
      {Seconds(row.predicted_s())},
      row.simulated_s() > 0 ? Field{Seconds(row.simulated_s())} : NoValue(),
      Measured(row) ? Field{Seconds(measured.median()), Field::Kind::kText,
                            absl::StrCat(Seconds(measured.low()), " to ", Seconds(measured.high()))}
                    : NoValue(),
      ErrorField(row),
      row.efficiency() > 0 ? Field{Percent(row.efficiency(), 0)} : NoValue(),
  };
}

}  // namespace

double ForecastError(const ForecastRow& row) {
  return Measured(row) ? row.predicted_s() / row.measured_s().median() - 1 : 0;
}

HeldOutErrors HeldOutErrorsOf(const Forecast& forecast) {
  std::vector<double> errors;
  for (const ForecastRow& row : forecast.rows()) {
    if (HeldOut(row)) errors.push_back(std::abs(ForecastError(row)));
  }
  if (errors.empty()) return {};
  return {static_cast<int>(errors.size()), Median(errors),
          *std::max_element(errors.begin(), errors.end())};
}

Table ModelTable(const ComparisonResult& comparison) {
  Table table;
  table.columns = {{"Parameter"}, {"Value", true}, {"What it is"}};
  if (!comparison.has_forecast()) return table;
  const CostModel& model = comparison.forecast().model();
  const auto per_gigabyte = [](double seconds) {
    return absl::StrCat(Seconds(seconds * 1e9), " / GB");
  };
  table.rows = {
      {{"α"}, {Seconds(model.alpha_s())}, {"for each message"}},
      {{"β"},
       {per_gigabyte(model.beta_s_per_byte())},
       {"for each byte, where the network is not shaped"}},
      {{"γ"}, {per_gigabyte(model.gamma_s_per_byte())}, {"for each byte added to a sum"}},
      {{"compute"},
       {Seconds(model.compute_s())},
       {"forward, backward and optimizer of a rank with a core of its own"}},
      {{"spread"},
       {Seconds(model.compute_spread_s())},
       {"standard deviation of that from step to step"}},
      {{"core"},
       {per_gigabyte(model.cpu_s_per_byte())},
       {"of one core, for each byte that a rank sends or receives: ranks of a host share its "
        "cores"}},
      {{"residual"},
       {Percent(model.residual_rms(), 1)},
       {absl::StrCat("root mean square, relative, over the ", model.points(),
                     " measurements that the fit has seen")}},
  };
  return table;
}

Table ForecastTable(const ComparisonResult& comparison) {
  const Colours colours(comparison);
  std::vector<ForecastRow> rows(comparison.forecast().rows().begin(),
                                comparison.forecast().rows().end());
  std::stable_sort(rows.begin(), rows.end(), [](const ForecastRow& a, const ForecastRow& b) {
    const auto place = [](const ForecastRow& row) {
      return HeldOut(row) ? 0 : Measured(row) ? 1 : 2;
    };
    return place(a) < place(b);
  });
  Table table;
  table.columns = {{"Measurement"},    {"Workers", true}, {"Strategy"},
                   {"Set-up"},         {"Formula", true}, {"Simulated", true},
                   {"Measured", true}, {"Error", true},   {"Efficiency", true}};
  for (const ForecastRow& row : rows) table.rows.push_back(RowFields(row, colours));
  return table;
}

std::vector<std::string> ForecastSentences(const ComparisonResult& comparison) {
  if (!comparison.has_forecast()) return {};
  const HeldOutErrors errors = HeldOutErrorsOf(comparison.forecast());
  if (errors.rows == 0) {
    return {
        "No measurement was held out, so that nothing here tests the model: its errors are "
        "those of a fit to what it has seen."};
  }
  return {absl::StrCat("Against ", Counted(errors.rows, "measurement"),
                       " that the fit has not seen, the median error is ",
                       Percent(errors.median, 1), " and the worst ", Percent(errors.worst, 1),
                       ".")};
}

Figure ForecastFigure(const ComparisonResult& comparison) {
  const Colours colours(comparison);
  CsvTable csv({"strategy", "workers", "shards", "placement", "point", "held_out", "predicted_s",
                "simulated_s", "measured_s_low", "measured_s_median", "measured_s_high"});
  std::map<std::pair<bool, std::string>, std::string> sets;  // by held out, strategy
  std::set<std::string, bool (*)(absl::string_view, absl::string_view)> strategies(StrategyLess);
  double least = 0;
  double most = 0;
  for (const ForecastRow& row : comparison.forecast().rows()) {
    if (!Measured(row)) continue;
    const Interval& measured = row.measured_s();
    csv.AddRow({row.strategy(), absl::StrCat(row.workers()), absl::StrCat(row.shards()),
                row.placement(), PointText(row.point()), HeldOut(row) ? "1" : "0",
                ExactNumber(row.predicted_s()), ExactNumber(row.simulated_s()),
                ExactNumber(measured.low()), ExactNumber(measured.median()),
                ExactNumber(measured.high())});
    strategies.insert(row.strategy());
    absl::StrAppend(&sets[{HeldOut(row), row.strategy()}], ExactNumber(measured.median() * 1e3),
                    " ", ExactNumber(row.predicted_s() * 1e3), "\n");
    for (const double seconds : {measured.median(), row.predicted_s()}) {
      if (seconds <= 0) continue;
      least = least == 0 ? seconds : std::min(least, seconds);
      most = std::max(most, seconds);
    }
  }
  Figure figure;
  std::vector<std::string> plots = {
      absl::StrCat("x with lines dt 2 lw 1 lc rgb '", kInkSentinel, "'")};
  for (const auto& [key, lines] : sets) {
    const int block = static_cast<int>(plots.size()) - 1;
    plots.push_back(absl::StrFormat("'data' index %d with points pt %d ps 0.9 lw 1.8 lc rgb '%s'",
                                    block, key.first ? 7 : 6, colours.Of(key.second)));
    absl::StrAppend(&figure.data, lines, "\n\n");
  }
  std::vector<LegendEntry> legend;
  for (const std::string& strategy : strategies) legend.push_back({strategy, colours.Of(strategy)});
  figure.name = "forecast";
  figure.title = "Foretold against measured";
  figure.caption =
      "Step times in milliseconds; on the dashed line the model is right. Full dots were held out, "
      "open ones are what it was fitted to.";
  if (!sets.empty()) figure.csv = csv.Text();
  const std::string range = absl::StrFormat("[%g:%g]", least * 1e3 * 0.8, most * 1e3 * 1.25);
  figure.script = absl::StrCat(
      PlotStyle(), PlotLegend(legend, figure), "set logscale xy\nset lmargin 8\n",
      sets.empty() ? "" : absl::StrCat("set xrange ", range, "\nset yrange ", range, "\n"),
      "set format xy '%g'\n", PlotAxisLabel("x", "measured, ms"),
      PlotAxisLabel("y", "foretold, ms"), PlotCommand(plots));
  return figure;
}

}  // namespace ringside
