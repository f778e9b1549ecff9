// The data-plane traffic of a parameter server by formula, to compare counts with. Pure.
//
// One exchange is one sum of the whole arena. A worker sends and receives every element once (S
// bytes each way, whatever the number of workers and shards); a shard receives its stripes once
// from each worker and sends their sums once to each. One message carries one unit, so the number
// of messages is the number of non-empty pieces bucket ∩ chunk ∩ stripe, each cut by the frame
// size. Headers (64 bytes a message) are counted apart; messages that are headers alone (pulls,
// ends) are not counted.
#ifndef RINGSIDE_COMMON_PS_TRAFFIC_H_
#define RINGSIDE_COMMON_PS_TRAFFIC_H_

#include <cstdint>

#include "common/bucket_plan.h"
#include "common/traffic.h"
#include "common/unit_table.h"

namespace ringside {

TrafficCounters PsWorkerTraffic(const BucketPlan& plan, const ShardLayout& layout,
                                int64_t exchanges);
TrafficCounters PsShardTraffic(const BucketPlan& plan, const ShardLayout& layout, int shard,
                               int64_t exchanges);

// For modes in which workers are not in step. What a shard takes when workers push all that it owns
// `pushes` times, all workers together, and sends when it answers `answers` times. And what one
// worker receives when `shard` answers it `times` times.
TrafficCounters PsShardTraffic(const BucketPlan& plan, const ShardLayout& layout, int shard,
                               int64_t pushes, int64_t answers);
TrafficCounters PsAnswers(const BucketPlan& plan, const ShardLayout& layout, int shard,
                          int64_t times);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_PS_TRAFFIC_H_
