// The points of a sweep: where in the space of its varied settings a run was made. Pure.
//
// Runs are compared within a point. A strategy that takes no notice of a setting (a ring of the
// number of shards, one process of the network) and was run with a single value of it has no place
// along it: it stands beside the others at each of their points.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_POINT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_POINT_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "results.pb.h"

namespace ringside {

// Varied setting -> value.
using Point = std::map<std::string, std::string>;

Point PointOf(const Cell& cell);
// Whether a cell or run at `part` stands at `whole`: every value of the one is that of the other.
bool IsPartOf(const Point& part, const Point& whole);
// No setting has two values.
bool AreCompatible(const Point& a, const Point& b);
// By the settings' names; values that are numbers by size.
bool PointLess(const Point& a, const Point& b);
// As people read it (setting_text.h); empty where nothing varies.
std::string PointText(const Point& point);
// "4 workers, network 1gbit,100us"
std::string PlaceText(int workers, const Point& point);
std::string PlaceText(const Contrast& contrast);

// Whether runs of `strategy` depend on a setting; those of settings that are not known here do.
bool Heeds(absl::string_view strategy, absl::string_view setting);

// Whether the value changes what is computed, by whatever strategy, and not only how gradients
// travel.
bool IsOfTransportOnly(absl::string_view setting);

// The dimensions of one comparison.
class PointSpace {
 public:
  PointSpace() = default;  // nothing is varied: all runs are at the empty point
  // `varied`: settings, by flag name, that the experiment is about. Those with one value are no
  // dimension, nor are those that the name of a strategy or a number of workers tells already.
  PointSpace(const std::vector<RunResult>& runs, const std::vector<std::string>& varied);

  Point Of(const RunResult& run) const;
  const std::vector<std::string>& settings() const { return settings_; }
  // The experiment is about this setting, a dimension or not.
  bool Varies(const std::string& setting) const { return varied_.count(setting) > 0; }
  bool is_sweep() const { return !varied_.empty(); }

 private:
  std::set<std::string> varied_;
  std::vector<std::string> settings_;
  std::set<std::pair<std::string, std::string>> unheeded_;  // strategy, setting
};

// Where cells meet.
struct Place {
  int workers = 0;
  Point point;
};

// Every number of workers with every point at which there is a cell; points that are parts of
// others are left to those. Ascending.
std::vector<Place> PlacesOf(const std::vector<Cell>& cells);
// The points of these runs or cells alone, as above.
std::vector<Point> FullPoints(const std::set<Point>& points);
bool StandsAt(const Cell& cell, const Place& place);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_POINT_H_
