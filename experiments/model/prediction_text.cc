#include "experiments/model/prediction_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "experiments/report/number_text.h"

namespace ringside {
namespace {

// Columns are padded by bytes; the micro sign has two.
std::string PlainSeconds(double seconds) {
  if (seconds <= 0) return "-";
  if (seconds >= 1) return absl::StrFormat("%.3g s", seconds);
  return seconds >= 1e-3 ? absl::StrFormat("%.3g ms", seconds * 1e3)
                         : absl::StrFormat("%.3g us", seconds * 1e6);
}

std::string Model(const CostModel& model) {
  std::string text = absl::StrFormat("Cost model, fitted to %s (residual %s, root mean square):\n",
                                     Counted(model.points(), "measured setting"),
                                     Percent(model.residual_rms(), 1));
  absl::StrAppendFormat(&text, "  %-34s ring %s, ps %s\n", "per message (alpha)",
                        PlainSeconds(model.alpha_s()), PlainSeconds(model.server_alpha_s()));
  absl::StrAppendFormat(&text, "  %-34s ring %.3g ns, ps %.3g ns\n", "of a core, per byte moved",
                        model.cpu_s_per_byte() * 1e9, model.server_cpu_s_per_byte() * 1e9);
  absl::StrAppendFormat(&text, "  %-34s %.3g ns\n", "per byte folded (gamma)",
                        model.gamma_s_per_byte() * 1e9);
  absl::StrAppendFormat(&text, "  %-34s %.3g ns\n", "per byte, network not shaped (beta)",
                        model.beta_s_per_byte() * 1e9);
  if (model.link_share() > 0) {
    absl::StrAppendFormat(&text, "  %-34s %s\n", "payload's share of a shaped link",
                          Percent(model.link_share(), 1));
  }
  return text;
}

std::string Table(const Forecast& forecast) {
  std::string text = absl::StrFormat("\n%8s  %-14s %6s %12s %12s %11s\n", "workers", "strategy",
                                     "shards", "step", "simulated", "efficiency");
  int workers = 0;
  double fastest = 0;
  for (const ForecastRow& row : forecast.rows()) {
    if (row.workers() != workers) {
      workers = row.workers();
      fastest = row.predicted_s();
      for (const ForecastRow& other : forecast.rows()) {
        if (other.workers() == workers) fastest = std::min(fastest, other.predicted_s());
      }
    }
    absl::StrAppendFormat(&text, "%8d  %-14s %6s %12s %12s %11s%s\n", row.workers(), SeriesOf(row),
                          row.shards() > 0 ? absl::StrCat(row.shards()) : "-",
                          PlainSeconds(row.predicted_s()), PlainSeconds(row.simulated_s()),
                          Percent(row.efficiency(), 1),
                          row.predicted_s() == fastest ? "  <- fastest" : "");
  }
  return text;
}

// Of all rows for one number of workers.
double LeastStep(const Prediction& prediction, int workers) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < prediction.forecast.rows_size(); ++i) {
    if (prediction.forecast.rows(i).workers() != workers) continue;
    least = std::min(least, prediction.under_failures[i].step_s);
  }
  return least;
}

std::string FailureTable(const Prediction& prediction) {
  std::string text = "\nUnder failures, with checkpoints:\n";
  absl::StrAppendFormat(&text, "%8s  %-14s %9s %9s %14s %8s %10s %14s\n", "workers", "strategy",
                        "processes", "job MTBF", "checkpoint", "goodput", "simulated",
                        "effective step");
  for (int i = 0; i < prediction.forecast.rows_size(); ++i) {
    const ForecastRow& row = prediction.forecast.rows(i);
    const FailureEstimate& failures = prediction.under_failures[i];
    const bool fastest =
        failures.goodput > 0 && failures.step_s == LeastStep(prediction, row.workers());
    absl::StrAppendFormat(
        &text, "%8d  %-14s %9d %9s %14s %8s %10s %14s%s\n", row.workers(), SeriesOf(row),
        failures.processes, DurationText(failures.mtbf_s),
        Counted(failures.checkpoint_steps, "step"), Percent(failures.goodput, 1),
        failures.simulated_goodput > 0 ? Percent(failures.simulated_goodput, 1) : "-",
        DurationText(failures.step_s), fastest ? "  <- fastest" : "");
  }
  return text;
}

}  // namespace

std::string DurationText(double seconds) {
  if (!std::isfinite(seconds)) return "never";
  if (seconds == 0) return "0 s";
  const double hours = seconds / 3600;
  if (hours >= 1000) return absl::StrCat(RoundedNumber(hours), " h");
  if (hours >= 2) return absl::StrFormat("%.3g h", hours);
  if (seconds >= 120) return absl::StrFormat("%.3g min", seconds / 60);
  return PlainSeconds(seconds);
}

std::string PredictedCrossoverText(const Crossover& crossover) {
  if (crossover.setting() == "workers") {
    return absl::StrFormat("%s is faster up to %.0f workers, %s from %.0f on",
                           crossover.faster_below(), crossover.value().low(),
                           crossover.faster_above(), crossover.value().high());
  }
  const double mbit = crossover.value().median();
  return absl::StrCat(crossover.workers(), " workers: ", crossover.faster_below(),
                      " is faster below ",
                      mbit >= 1000 ? absl::StrCat(RoundedNumber(mbit / 1000), " Gbit/s")
                                   : absl::StrCat(RoundedNumber(mbit), " Mbit/s"),
                      ", ", crossover.faster_above(), " above");
}

std::string PredictionText(const Prediction& prediction) {
  std::string text = absl::StrCat(Model(prediction.forecast.model()), Table(prediction.forecast));
  const bool fails = !prediction.under_failures.empty();
  if (fails) text += FailureTable(prediction);
  absl::StrAppend(&text, "\nRing against ps on hosts of its own", fails ? ", under failures" : "",
                  ":\n");
  if (prediction.crossovers.empty()) text += "  one of them is always faster here\n";
  for (const Crossover& crossover : prediction.crossovers) {
    absl::StrAppend(&text, "  ", PredictedCrossoverText(crossover), "\n");
  }
  text += "\nAssumed:\n";
  for (const std::string& line : prediction.assumptions) absl::StrAppend(&text, "  ", line, "\n");
  if (!prediction.warnings.empty()) text += "\nWarnings:\n";
  for (const std::string& line : prediction.warnings) absl::StrAppend(&text, "  ", line, "\n");
  return text;
}

}  // namespace ringside
