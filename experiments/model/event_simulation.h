// A step of either strategy as a simulation of events (event_engine.h): what links, threads and
// cores are shared by is decided message by message.
//
// Ring: the thread of a rank follows RingSchedule in its order, as RingAllReducer does; one bucket
// after the other. Server: a worker pushes a bucket's units as soon as it is submitted, round about
// the shards; a shard parks what comes, folds a unit when all workers' parts are there, and sends
// its sum to all workers, while later units are still being pushed. A worker and a shard have a
// thread that receives and another that sends; the one that sends of a shard folds too.
//
// Every message is an event or several, so this is for up to some million messages. Where a server
// has more, neighbouring units of a bucket and shard are simulated as one, which costs as much as
// they do: what is lost is the pipelining within it.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_EVENT_SIMULATION_H_
#define RINGSIDE_EXPERIMENTS_MODEL_EVENT_SIMULATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/model/rank_times.h"
#include "experiments/model/step_job.h"

namespace ringside {

// Pushes of one step that a server is simulated with: units are joined until there are no more.
constexpr int64_t kMostParts = 400'000;
// And how many are simulated where they cannot be joined any further; also of a ring's messages.
constexpr int64_t kMostMessages = 2'000'000;

// When each rank has ended the step, its optimizer included. REQUIRES: one entry of `ranks` for
// each worker. RESOURCE_EXHAUSTED: more than kMostMessages; says how many.
absl::StatusOr<std::vector<double>> SimulateEvents(const StepJob& job,
                                                   const std::vector<RankTimes>& ranks,
                                                   int64_t most_parts = kMostParts);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_EVENT_SIMULATION_H_
