#include "experiments/report/run_grid.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "experiments/report/number_text.h"
#include "experiments/report/series.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/transport.h"

namespace ringside {
namespace {

// The strategy that was asked for, which is what a comparison has planned its runs by.
std::string AskedFor(const RunResult& run) {
  const auto& settings = run.settings();
  const auto strategy = settings.find("strategy");
  const auto schedule = settings.find("schedule");
  if (strategy == settings.end() || strategy->second != "ring" || schedule == settings.end() ||
      schedule->second == "ring") {
    return run.strategy();
  }
  return schedule->second == "direct" ? "direct"
                                      : absl::StrCat("ring with --schedule=", schedule->second);
}

struct GridRun {
  std::string strategy;
  Point point;
};

std::string AtPoint(const Point& point) {
  const std::string text = PointText(point);
  return text.empty() ? "" : absl::StrCat(" at ", text);
}

// As often as the others: fewest and most trials of the contenders.
std::string CheckTrials(const std::vector<RunResult>& runs, const PointSpace& space) {
  using Key = std::tuple<std::string, int, Point, int, std::string, std::string>;
  std::map<Key, int> trials;
  size_t full = 0;
  for (const RunResult& run : runs) {
    const std::string strategy = AskedFor(run);
    // One run of an oracle is as good as five.
    if (IsOracle(strategy)) continue;
    const bool servers = IsParameterServer(strategy);
    const Point point = space.Of(run);
    full = std::max(full, point.size());
    ++trials[{strategy, run.workers(), point, run.shards(), servers ? TransportOf(run) : "",
              servers ? SettingOf(run, "placement") : ""}];
  }
  if (trials.empty()) return "";
  const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto fewest = std::min_element(trials.begin(), trials.end(), by_count);
  // Who stands at several points may have been run at each of them.
  const auto most =
      std::max_element(trials.begin(), trials.end(), [full](const auto& a, const auto& b) {
        const bool a_full = std::get<2>(a.first).size() == full;
        const bool b_full = std::get<2>(b.first).size() == full;
        return std::make_pair(a_full, a.second) < std::make_pair(b_full, b.second);
      });
  if (fewest->second >= most->second) return "";
  const auto describe = [](const auto& entry) {
    return absl::StrCat(std::get<0>(entry.first), " with ",
                        Counted(std::get<1>(entry.first), "worker"),
                        AtPoint(std::get<2>(entry.first)), " has ", Counted(entry.second, "trial"));
  };
  return absl::StrCat(describe(*fewest), ", ", describe(*most));
}

}  // namespace

std::vector<std::string> GridGaps(const std::vector<RunResult>& runs, const PointSpace& space) {
  std::set<std::string> strategies;
  std::map<int, std::vector<GridRun>> by_workers;
  for (const RunResult& run : runs) {
    strategies.insert(AskedFor(run));
    by_workers[run.workers()].push_back({AskedFor(run), space.Of(run)});
  }
  std::vector<std::string> gaps;
  for (const auto& [workers, there] : by_workers) {
    std::set<Point> points;
    for (const GridRun& run : there) points.insert(run.point);
    for (const std::string& strategy : strategies) {
      for (const Point& point : FullPoints(points)) {
        // One run of an oracle proves the bits of all points.
        const bool found = std::any_of(there.begin(), there.end(), [&](const GridRun& run) {
          return run.strategy == strategy && (IsOracle(strategy) || IsPartOf(run.point, point));
        });
        if (found) continue;
        gaps.push_back(absl::StrCat("there is no run of ", strategy, " with ",
                                    Counted(workers, "worker"), AtPoint(point)));
      }
    }
  }
  const std::string trials = CheckTrials(runs, space);
  if (!trials.empty()) gaps.push_back(trials);
  return gaps;
}

}  // namespace ringside
