#include "experiments/report/point.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "experiments/report/comparability.h"
#include "experiments/report/number_text.h"
#include "experiments/report/series.h"
#include "experiments/report/server_mode.h"
#include "experiments/report/setting_axis.h"
#include "experiments/report/setting_text.h"

namespace ringside {
namespace {

using Names = std::set<std::string, std::less<>>;

// The name of a series, a column or the trial says these.
bool IsToldOtherwise(const std::string& setting) {
  static const auto* const names = new Names{"strategy", "workers",   "trial",          "ps_mode",
                                             "update",   "staleness", "backup_workers", "schedule"};
  return names->count(setting) > 0;
}

// With strong scaling the batch of a rank follows the number of workers; shards may.
bool MayFollowWorkers(const std::string& setting) {
  return setting == "batch_size" || setting == "ps_shards";
}

bool IsOfServersOnly(absl::string_view setting) {
  static const auto* const names = new Names{"ps_shards", "placement", "snapshot_steps"};
  const std::vector<std::string>& modes = ServerSettings();
  return names->count(setting) > 0 ||
         std::find(modes.begin(), modes.end(), setting) != modes.end() ||
         absl::StartsWith(setting, "grpc_");
}

bool IsOfRingsOnly(absl::string_view setting) {
  static const auto* const names = new Names{"ring_link", "schedule", "segment_bytes"};
  return names->count(setting) > 0;
}

bool IsOfAnyTransport(absl::string_view setting) {
  static const auto* const names =
      new Names{"network", "frame_bytes", "congestion_control", "overlap", "malloc"};
  return names->count(setting) > 0;
}

bool ValueLess(const std::string& setting, const std::string& a, const std::string& b) {
  return std::make_pair(SortingNumbers(setting, a), a) <
         std::make_pair(SortingNumbers(setting, b), b);
}

google::protobuf::Map<std::string, std::string> AsProto(const Point& point) {
  return {point.begin(), point.end()};
}

}  // namespace

Point PointOf(const Cell& cell) { return {cell.point().begin(), cell.point().end()}; }

bool IsPartOf(const Point& part, const Point& whole) {
  return std::all_of(part.begin(), part.end(), [&whole](const auto& entry) {
    const auto found = whole.find(entry.first);
    return found != whole.end() && found->second == entry.second;
  });
}

bool AreCompatible(const Point& a, const Point& b) {
  return std::all_of(a.begin(), a.end(), [&b](const auto& entry) {
    const auto found = b.find(entry.first);
    return found == b.end() || found->second == entry.second;
  });
}

bool PointLess(const Point& a, const Point& b) {
  auto left = a.begin();
  auto right = b.begin();
  for (; left != a.end() && right != b.end(); ++left, ++right) {
    if (left->first != right->first) return left->first < right->first;
    if (left->second != right->second) return ValueLess(left->first, left->second, right->second);
  }
  return left == a.end() && right != b.end();
}

std::string PointText(const Point& point) { return PointText(AsProto(point)); }

std::string PlaceText(int workers, const Point& point) {
  const std::string text = PointText(point);
  return absl::StrCat(Counted(workers, "worker"), text.empty() ? "" : ", ", text);
}

std::string PlaceText(const Contrast& contrast) {
  return PlaceText(contrast.workers(), {contrast.point().begin(), contrast.point().end()});
}

bool IsOfTransportOnly(absl::string_view setting) {
  return IsOfServersOnly(setting) || IsOfRingsOnly(setting) || IsOfAnyTransport(setting);
}

bool Heeds(absl::string_view strategy, absl::string_view setting) {
  if (IsOneProcess(strategy)) return !IsOfTransportOnly(setting);
  if (IsOfRingsOnly(setting)) return !IsParameterServer(strategy);
  // A ring over gRPC heeds how gRPC is tuned.
  if (absl::StartsWith(setting, "grpc_")) return true;
  return IsParameterServer(strategy) || !IsOfServersOnly(setting);
}

PointSpace::PointSpace(const std::vector<RunResult>& runs, const std::vector<std::string>& varied)
    : varied_(varied.begin(), varied.end()) {
  for (const std::string& setting : varied) {
    if (IsToldOtherwise(setting)) continue;
    if (std::find(settings_.begin(), settings_.end(), setting) != settings_.end()) continue;
    std::set<std::string> values;
    std::map<int, std::set<std::string>> values_by_workers;
    std::map<std::string, std::set<std::string>> values_by_strategy;
    for (const RunResult& run : runs) {
      const std::string value = InvariantOf(run, setting);
      values_by_strategy[run.strategy()].insert(value);
      if (!Heeds(run.strategy(), setting)) continue;
      values.insert(value);
      values_by_workers[run.workers()].insert(value);
    }
    const bool several_at_one =
        std::any_of(values_by_workers.begin(), values_by_workers.end(),
                    [](const auto& entry) { return entry.second.size() > 1; });
    if (values.size() < 2 || (MayFollowWorkers(setting) && !several_at_one)) continue;
    settings_.push_back(setting);
    for (const auto& [strategy, of_strategy] : values_by_strategy) {
      if (!Heeds(strategy, setting) && of_strategy.size() == 1)
        unheeded_.insert({strategy, setting});
    }
  }
}

Point PointSpace::Of(const RunResult& run) const {
  Point point;
  for (const std::string& setting : settings_) {
    if (unheeded_.count({run.strategy(), setting}) == 0) point[setting] = InvariantOf(run, setting);
  }
  return point;
}

std::vector<Point> FullPoints(const std::set<Point>& points) {
  // Runs that stand along different settings meet where both have their values.
  std::set<Point> all = points;
  bool grows = true;
  while (grows) {
    grows = false;
    const std::vector<Point> known(all.begin(), all.end());
    for (size_t i = 0; i < known.size(); ++i) {
      for (size_t j = i + 1; j < known.size(); ++j) {
        if (!AreCompatible(known[i], known[j])) continue;
        Point both = known[i];
        both.insert(known[j].begin(), known[j].end());
        grows = all.insert(std::move(both)).second || grows;
      }
    }
  }
  std::vector<Point> full;
  for (const Point& point : all) {
    const bool is_part = std::any_of(all.begin(), all.end(), [&point](const Point& other) {
      return other.size() > point.size() && IsPartOf(point, other);
    });
    if (!is_part) full.push_back(point);
  }
  std::sort(full.begin(), full.end(), PointLess);
  return full;
}

std::vector<Place> PlacesOf(const std::vector<Cell>& cells) {
  std::map<int, std::set<Point>> points;
  for (const Cell& cell : cells) points[cell.workers()].insert(PointOf(cell));
  std::vector<Place> places;
  for (const auto& [workers, of_workers] : points) {
    for (const Point& point : FullPoints(of_workers)) places.push_back({workers, point});
  }
  return places;
}

bool StandsAt(const Cell& cell, const Place& place) {
  return cell.workers() == place.workers && IsPartOf(PointOf(cell), place.point);
}

}  // namespace ringside
