// The traces of all processes of a job as one, in the Trace Event Format that Chrome and Perfetto
// (https://ui.perfetto.dev) read. Pure.
//
// A process per rank and shard, all on the coordinator's clock; times count from the earliest span.
// Threads of it are lanes: "training" (the step and its parts), "sums" with the ring's two phases,
// or one to and one from each shard; on a shard, "folds". What overlaps itself is asynchronous:
// each bucket's life (on a worker from its last gradient to the update, on a shard from the first
// arrival to the last reply), and frames that wait in a shard's queue. Arrows lead from a worker's
// first write of a bucket to the shard taking it. "otherData" has the window, and for each process
// how far its clock may be off. Source: "Trace Event Format", Google, 2016.
#ifndef RINGSIDE_COMMON_TRACE_CHROME_TRACE_H_
#define RINGSIDE_COMMON_TRACE_CHROME_TRACE_H_

#include <string>
#include <vector>

#include "common/step_window.h"
#include "trace.pb.h"

namespace ringside {

// A JSON object.
std::string ChromeTrace(const std::vector<ProcessTrace>& processes, const StepWindow& window);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRACE_CHROME_TRACE_H_
