#include "experiments/report/skew.h"

#include <algorithm>
#include <map>

#include "experiments/report/statistics.h"

namespace ringside {
namespace {

// The records of one step of one run, by rank.
using StepRanks = std::map<int, const StepRecord*>;

struct RankSamples {
  RankSkew sum;
  std::vector<double> behind_s;
};

class Collector {
 public:
  void Add(const RunResult& run) {
    std::map<int64_t, StepRanks> steps;
    for (const WorkerResult& worker : run.worker_results()) {
      for (const StepRecord& record : worker.steps()) {
        if (record.step() > run.warmup_steps()) steps[record.step()][worker.rank()] = &record;
      }
    }
    for (const auto& [step, ranks] : steps) {
      if (ranks.size() == static_cast<size_t>(run.worker_results_size()) && ranks.size() > 1)
        AddStep(run.trial(), step, ranks);
    }
  }

  Skew Finish() {
    Skew skew;
    skew.steps = static_cast<int64_t>(spreads_s_.size());
    skew.median_spread_s = Median(spreads_s_);
    skew.p99_spread_s = Percentile(spreads_s_, 0.99);
    std::map<int, bool> chronic;
    for (auto& [rank, samples] : ranks_) {
      RankSkew total = samples.sum;
      total.rank = rank;
      total.own_s /= static_cast<double>(total.steps);
      total.wait_s /= static_cast<double>(total.steps);
      total.behind_s = Median(samples.behind_s);
      total.chronic = static_cast<double>(total.slow_steps) >
                      kChronicSlowShare * static_cast<double>(total.steps);
      chronic[rank] = total.chronic;
      skew.ranks.push_back(total);
    }
    for (const SlowMoment& moment : moments_) {
      if (!chronic[moment.rank]) skew.once.push_back(moment);
    }
    std::stable_sort(skew.once.begin(), skew.once.end(),
                     [](const SlowMoment& a, const SlowMoment& b) {
                       return a.own_s - a.others_s > b.own_s - b.others_s;
                     });
    return skew;
  }

 private:
  void AddStep(int64_t trial, int64_t step, const StepRanks& ranks) {
    double least = OwnWorkSeconds(*ranks.begin()->second);
    double most = least;
    for (const auto& [rank, record] : ranks) {
      const double own_s = OwnWorkSeconds(*record);
      least = std::min(least, own_s);
      most = std::max(most, own_s);
      const double others_s = OthersMedian(ranks, rank);
      RankSamples& samples = ranks_[rank];
      ++samples.sum.steps;
      samples.sum.own_s += own_s;
      samples.sum.wait_s += WaitSeconds(*record);
      samples.behind_s.push_back(own_s - others_s);
      if (own_s > (1 + kSlowShare) * others_s) ++samples.sum.slow_steps;
      if (own_s > kOnceRatio * others_s) moments_.push_back({trial, step, rank, own_s, others_s});
    }
    spreads_s_.push_back(most - least);
  }

  static double OthersMedian(const StepRanks& ranks, int but) {
    std::vector<double> others;
    for (const auto& [rank, record] : ranks) {
      if (rank != but) others.push_back(OwnWorkSeconds(*record));
    }
    return Median(others);
  }

  std::map<int, RankSamples> ranks_;
  std::vector<double> spreads_s_;
  std::vector<SlowMoment> moments_;
};

}  // namespace

double OwnWorkSeconds(const StepRecord& step) {
  return step.data_s() + step.forward_s() + step.backward_s() + step.optimizer_s();
}

double WaitSeconds(const StepRecord& step) { return step.exposed_comm_s(); }

Skew SkewOf(const std::vector<const RunResult*>& runs) {
  Collector collector;
  for (const RunResult* run : runs) collector.Add(*run);
  return collector.Finish();
}

}  // namespace ringside
