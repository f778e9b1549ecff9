// Traffic counters as they stand in results.
#ifndef RINGSIDE_COMMON_TRAFFIC_PROTO_H_
#define RINGSIDE_COMMON_TRAFFIC_PROTO_H_

#include "common/traffic.h"
#include "results.pb.h"

namespace ringside {

inline Traffic ToProto(const TrafficCounters& counters) {
  Traffic traffic;
  traffic.set_payload_bytes_sent(counters.payload_bytes_sent);
  traffic.set_payload_bytes_received(counters.payload_bytes_received);
  traffic.set_messages_sent(counters.messages_sent);
  traffic.set_messages_received(counters.messages_received);
  traffic.set_header_bytes_sent(counters.header_bytes_sent);
  traffic.set_header_bytes_received(counters.header_bytes_received);
  return traffic;
}

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAFFIC_PROTO_H_
