// How often each contender works in its turns, and how many rounds of turns there are, so that one
// shape and size takes about as long as it may. Pure.
#ifndef RINGSIDE_WORKER_BENCH_TURN_PLAN_H_
#define RINGSIDE_WORKER_BENCH_TURN_PLAN_H_

#include <vector>

#include "absl/time/time.h"

namespace ringside {

struct TurnPlan {
  int rounds = 1;
  std::vector<int> iterations;  // timed, of one turn, by contender
};

// Exchanges before the timed ones of a turn: enough for the kernel to spread processes that it has
// woken on one core.
int WarmupIterations(int iterations);

// `wanted` where it fits into `limit`. Else all have fewer iterations, by the same factor, but at
// least three; and where that is not enough, there are fewer rounds, but at least two, or as many
// as are wanted: samples of one round alone say nothing about the next. `seconds[i]` is what
// contender i takes for one exchange.
TurnPlan FitTurns(const TurnPlan& wanted, const std::vector<double>& seconds, absl::Duration limit);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_TURN_PLAN_H_
