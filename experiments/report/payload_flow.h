// What payload each kind of process of a run moved in one step, and in which time it can have moved
// it. Pure; docs/metrics.md, "Ceilings", tells why these times are bounds.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_PAYLOAD_FLOW_H_
#define RINGSIDE_EXPERIMENTS_REPORT_PAYLOAD_FLOW_H_

#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

struct PayloadFlow {
  std::string process;        // "worker", "shard"; "host": all processes of an emulated one
  double bytes_per_step = 0;  // of the busier direction and the busiest such process
  double seconds = 0;         // of a step, mean over the counted steps; 0: in no time
  int peers = 1;              // that it exchanges payload with over connections of their own
  // Times in a step at which nothing may have been under way before: after a pause an emulated link
  // lets some bytes pass at once.
  double starts = 1;
};

// None for runs whose payload or times cannot be told apart (ceilings.h), or without a counted
// step. Payload between processes of one emulated host is left out.
std::vector<PayloadFlow> PayloadFlows(const RunResult& run);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_PAYLOAD_FLOW_H_
