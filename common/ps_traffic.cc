#include "common/ps_traffic.h"

#include "common/element_range.h"
#include "common/frame_codec.h"

namespace ringside {
namespace {

// What one worker and one shard exchange, one way.
struct OneWay {
  int64_t elements = 0;
  int64_t messages = 0;
};

OneWay Between(const BucketPlan& plan, const ShardLayout& layout, int shard) {
  OneWay sum;
  for (int bucket = 0; bucket < plan.size(); ++bucket) {
    const ElementRange whole{0, plan.bucket(bucket).length};
    const ElementRange stripe = Part(whole, layout.num_shards, shard);
    sum.elements += stripe.length;
    for (int chunk = 0; chunk < layout.world_size; ++chunk) {
      const int64_t length = Intersect(stripe, Part(whole, layout.world_size, chunk)).length;
      sum.messages += (length + layout.max_unit_elements() - 1) / layout.max_unit_elements();
    }
  }
  return sum;
}

TrafficCounters Sent(const OneWay& one_way, int64_t times) {
  TrafficCounters traffic;
  traffic.payload_bytes_sent = one_way.elements * static_cast<int64_t>(sizeof(float)) * times;
  traffic.messages_sent = one_way.messages * times;
  traffic.header_bytes_sent = traffic.messages_sent * static_cast<int64_t>(kFrameHeaderBytes);
  return traffic;
}

TrafficCounters Received(const OneWay& one_way, int64_t times) {
  const TrafficCounters sent = Sent(one_way, times);
  TrafficCounters traffic;
  traffic.payload_bytes_received = sent.payload_bytes_sent;
  traffic.messages_received = sent.messages_sent;
  traffic.header_bytes_received = sent.header_bytes_sent;
  return traffic;
}

}  // namespace

TrafficCounters PsWorkerTraffic(const BucketPlan& plan, const ShardLayout& layout,
                                int64_t exchanges) {
  TrafficCounters sum;
  for (int shard = 0; shard < layout.num_shards; ++shard) {
    const OneWay one_way = Between(plan, layout, shard);
    sum += Sent(one_way, exchanges);
    sum += Received(one_way, exchanges);
  }
  return sum;
}

TrafficCounters PsShardTraffic(const BucketPlan& plan, const ShardLayout& layout, int shard,
                               int64_t exchanges) {
  const int64_t times = exchanges * layout.world_size;
  return PsShardTraffic(plan, layout, shard, times, times);
}

TrafficCounters PsShardTraffic(const BucketPlan& plan, const ShardLayout& layout, int shard,
                               int64_t pushes, int64_t answers) {
  const OneWay one_way = Between(plan, layout, shard);
  TrafficCounters sum = Received(one_way, pushes);
  sum += Sent(one_way, answers);
  return sum;
}

TrafficCounters PsAnswers(const BucketPlan& plan, const ShardLayout& layout, int shard,
                          int64_t times) {
  return Received(Between(plan, layout, shard), times);
}

}  // namespace ringside
