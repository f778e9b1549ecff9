// A step of the ring, simulated message by message without a queue of events.
//
// A rank does what RingSchedule says in the order in which RingSchedule says it, and each of its
// links carries messages in that order too. So the time of every message is a maximum of two times
// that were computed before it, plus what it costs (a recurrence in max-plus algebra: Baccelli,
// Cohen, Olsder and Quadrat, "Synchronization and Linearity", 1992), as long as nobody else wants
// the rank's thread or link:
//
//   thread:  t = max(t, arrival of the message) + receive, fold, send on
//   link:    l = max(l, t - burst) + bytes * beta     (the burst of a token bucket, in seconds)
//   arrival at the right neighbour:  max(l, t) + latency
//
// Ranks may start, compute and so wait unevenly. Ranks of one host are neighbours, of whose hops
// one in each direction leaves the host: its card is shared by nobody. What is not covered is cores
// that are short (event_simulation.h). The result equals the simulation of events; the cost is one
// pass over the messages: 54 million for 1,024 ranks and 26 buckets.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_RING_SIMULATION_H_
#define RINGSIDE_EXPERIMENTS_MODEL_RING_SIMULATION_H_

#include <vector>

#include "experiments/model/rank_times.h"
#include "experiments/model/step_job.h"

namespace ringside {

// When each rank has ended the step, its optimizer included. REQUIRES: !job.servers,
// !CoresAreShared(job), one entry of `ranks` for each worker.
std::vector<double> SimulateRing(const StepJob& job, const std::vector<RankTimes>& ranks);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_RING_SIMULATION_H_
