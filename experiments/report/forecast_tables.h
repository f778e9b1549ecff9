// The cost model of a comparison and what it foretold. Pure; docs/metrics.md has the formulas.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_FORECAST_TABLES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_FORECAST_TABLES_H_

#include <string>
#include <vector>

#include "experiments/report/figure.h"
#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// predicted / measured - 1; 0 where nothing was measured.
double ForecastError(const ForecastRow& row);

// Absolute errors of the measured rows that the fit has not seen.
struct HeldOutErrors {
  int rows = 0;
  double median = 0;
  double worst = 0;
};
HeldOutErrors HeldOutErrorsOf(const Forecast& forecast);

// Each parameter with its meaning; no rows without a forecast.
Table ModelTable(const ComparisonResult& comparison);
// Held-out rows first, then those of the fit, then those that were not measured.
Table ForecastTable(const ComparisonResult& comparison);
// How far the model can be believed; empty without a forecast.
std::vector<std::string> ForecastSentences(const ComparisonResult& comparison);
// Predicted over measured step times; without data where nothing was measured.
Figure ForecastFigure(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_FORECAST_TABLES_H_
