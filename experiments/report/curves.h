// The curves along the settings that a sweep varies: what is drawn, and where crossovers are looked
// for. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_CURVES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CURVES_H_

#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "experiments/report/point.h"
#include "experiments/report/setting_axis.h"
#include "results.pb.h"

namespace ringside {

// What is the same in all cells of some curves.
struct CurveContext {
  int workers = 0;           // 0: they are what varies
  Point point;               // the other varied settings
  std::string Text() const;  // "4 workers, bucket 4.00 MiB"
};

struct CurvePoint {
  std::string value;  // of the setting
  double at = 0;      // as a number; where there is an axis
  const Cell* cell = nullptr;
};

struct Curve {
  std::string series;
  std::vector<CurvePoint> points;  // ascending
  // The series takes no notice of the setting: one cell stands at all values, and is the only
  // point.
  bool level = false;
};

// The curves along one setting, in one context.
struct CurveSet {
  std::string setting;
  absl::optional<SettingAxis> axis;  // nothing where the values are not numbers
  CurveContext context;
  std::vector<std::string> values;  // that any curve has, in order; of an axis only those on it
  std::vector<Curve> curves;        // in the order of the report
};

// All sets in which two values at least were measured. Along settings of the cells' points: along
// the numbers that their values can be read as, or else along the values. Along the number of
// workers as well. Sets along one setting follow each other, that with most workers first. Refers
// to `cells`.
std::vector<CurveSet> CurveSets(const std::vector<Cell>& cells);

// Where the curve is at a value or, of a level one, everywhere; null where it is not.
const Cell* CellAt(const Curve& curve, const std::string& value);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CURVES_H_
