#include "worker/bench/turn_plan.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "common/check.h"

namespace ringside {
namespace {

constexpr int kLeastIterations = 3;
constexpr int kLeastRounds = 2;
constexpr int kVerifications = 2;  // of a turn, each an exchange

double SecondsOfRound(const std::vector<int>& iterations, const std::vector<double>& seconds) {
  double sum = 0;
  for (size_t i = 0; i < seconds.size(); ++i) {
    sum += seconds[i] * (iterations[i] + WarmupIterations(iterations[i]) + kVerifications);
  }
  return sum;
}

}  // namespace

int WarmupIterations(int iterations) { return std::max(1, iterations * 2 / 5); }

TurnPlan FitTurns(const TurnPlan& wanted, const std::vector<double>& seconds,
                  absl::Duration limit) {
  RINGSIDE_CHECK(wanted.iterations.size() == seconds.size());
  const double allowed = absl::ToDoubleSeconds(limit);
  TurnPlan plan = wanted;
  const double all = wanted.rounds * SecondsOfRound(wanted.iterations, seconds);
  if (all <= allowed) return plan;
  const double verifications =
      wanted.rounds * kVerifications * std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const double share = std::max(0.0, (allowed - verifications) / (all - verifications));
  for (int& iterations : plan.iterations) {
    const int fewer = static_cast<int>(iterations * share);
    iterations = std::min(iterations, std::max(kLeastIterations, fewer));
  }
  const double round = SecondsOfRound(plan.iterations, seconds);
  const auto rounds = static_cast<int>(std::min<double>(plan.rounds, allowed / round));
  plan.rounds = std::min(plan.rounds, std::max(kLeastRounds, rounds));
  return plan;
}

}  // namespace ringside
