// How much of each rank's communication was waiting for ranks that had more to compute. Pure.
#ifndef RINGSIDE_WORKER_WAIT_FOR_SLOWEST_H_
#define RINGSIDE_WORKER_WAIT_FOR_SLOWEST_H_

#include "results.pb.h"

namespace ringside {

// Fills wait_slowest_s of all step records: from the rank's submission of its last bucket to that
// of the last rank that the step waited for, on one clock, and no more than the rank's exposed
// communication. Of `backup_workers`, the last ones of a step, nobody waits for; they have none
// themselves. Nothing is filled where one process plays all ranks.
void FillWaitForSlowest(int backup_workers, RunResult* run);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_WAIT_FOR_SLOWEST_H_
