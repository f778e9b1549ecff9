// What one shard has measured so far: what its results and its metrics endpoint are made of.
// docs/metrics.md defines every number.
#ifndef RINGSIDE_PS_SERVER_SHARD_METRICS_H_
#define RINGSIDE_PS_SERVER_SHARD_METRICS_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "common/traffic.h"
#include "ps_server/reply_clock.h"
#include "ps_server/shard_executor.h"
#include "results.pb.h"

namespace ringside {

struct ShardMetrics {
  int shard = 0;
  int64_t elements = 0;  // that the shard owns
  ShardExecutor::Account account;
  ReplyClock::Total replies;
  int64_t snapshots = 0;
  absl::Duration snapshot_time;
  // Of all exchanges, the broadcast of the initial parameters included. `expected` is the formula
  // for what the shard has taken and answered as a whole so far, so that the two differ while an
  // exchange is under way.
  TrafficCounters counted;
  TrafficCounters expected;
  int connected_workers = 0;
  double cpu_seconds = 0;      // user and system, of the process
  int64_t peak_rss_bytes = 0;  // of the process
};

// All but traffic, steps and process, which ShardResult has in a narrower sense.
void FillResult(const ShardMetrics& metrics, ShardResult* result);

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SHARD_METRICS_H_
