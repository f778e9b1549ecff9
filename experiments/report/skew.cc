#include "experiments/report/skew.h"

#include <algorithm>
#include <map>

#include "experiments/report/statistics.h"

namespace ringside {
namespace {

struct RankSamples {
  int64_t records = 0;
  RankSkew sum;
  std::vector<double> late_s;  // of its slow steps
};

class Collector {
 public:
  void Add(const RunResult& run) {
    for (const WorkerResult& worker : run.worker_results()) {
      for (const StepRecord& record : worker.steps()) {
        if (record.step() > run.warmup_steps()) AddRecord(record, &ranks_[worker.rank()]);
      }
    }
    const Arrivals arrivals = ArrivalsOf(run);
    if (arrivals.steps > 0) AddArrivals(run.trial(), arrivals);
  }

  Skew Finish() {
    if (ranks_.size() < 2) return {};
    for (auto& [rank, samples] : ranks_) {
      RankSkew total = samples.sum;
      const auto records = static_cast<double>(samples.records);
      total.rank = rank;
      total.own_s /= records;
      total.wait_s /= records;
      total.slow_by_s = Median(samples.late_s);
      total.chronic = 2 * total.chronic_trials > skew_.trials;
      skew_.ranks.push_back(total);
    }
    skew_.first_bucket_spread_s = Median(first_bucket_spreads_s_);
    skew_.spread_s = Median(spreads_s_);
    skew_.spread_p90_s = Median(p90_spreads_s_);
    for (const SlowSpell& spell : spells_) {
      const auto rank =
          std::find_if(skew_.ranks.begin(), skew_.ranks.end(),
                       [&spell](const RankSkew& one) { return one.rank == spell.rank.rank; });
      if (!rank->chronic) skew_.spells.push_back(spell);
    }
    std::stable_sort(skew_.spells.begin(), skew_.spells.end(),
                     [](const SlowSpell& a, const SlowSpell& b) {
                       return a.rank.slow_total_s > b.rank.slow_total_s;
                     });
    return skew_;
  }

 private:
  static void AddRecord(const StepRecord& record, RankSamples* samples) {
    ++samples->records;
    samples->sum.own_s += OwnWorkSeconds(record);
    samples->sum.wait_s += record.exposed_comm_s();
  }

  void AddArrivals(int64_t trial, const Arrivals& arrivals) {
    ++skew_.trials;
    skew_.steps += arrivals.steps;
    skew_.in_step = arrivals.in_step;
    skew_.clock_error_s = std::max(skew_.clock_error_s, arrivals.clock_error_s);
    skew_.limited_by_clocks = skew_.limited_by_clocks || arrivals.limited_by_clocks();
    first_bucket_spreads_s_.push_back(arrivals.first_bucket_spread_s);
    spreads_s_.push_back(arrivals.spread_s);
    p90_spreads_s_.push_back(arrivals.spread_p90_s);
    for (const RankArrivals& rank : arrivals.ranks) {
      if (rank.steps == 0) continue;
      RankSamples& samples = ranks_[rank.rank];
      samples.sum.steps += rank.steps;
      samples.sum.slow_steps += static_cast<int64_t>(rank.slow_steps.size());
      for (const SlowStep& slow : rank.slow_steps) samples.late_s.push_back(slow.late_s);
      if (rank.slowness() == Slowness::kChronic) ++samples.sum.chronic_trials;
      if (rank.slowness() != Slowness::kNever) spells_.push_back({trial, rank});
    }
  }

  Skew skew_;
  std::map<int, RankSamples> ranks_;
  std::vector<double> first_bucket_spreads_s_;
  std::vector<double> spreads_s_;
  std::vector<double> p90_spreads_s_;
  std::vector<SlowSpell> spells_;
};

}  // namespace

Skew SkewOf(const std::vector<const RunResult*>& runs) {
  Collector collector;
  for (const RunResult* run : runs) collector.Add(*run);
  return collector.Finish();
}

double OthersOwnSeconds(const Skew& skew, int rank) {
  std::vector<double> others;
  for (const RankSkew& other : skew.ranks) {
    if (other.rank != rank) others.push_back(other.own_s);
  }
  return Median(others);
}

}  // namespace ringside
