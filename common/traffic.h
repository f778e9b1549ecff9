// Counts of what a process has put on and taken off the data plane.
#ifndef RINGSIDE_COMMON_TRAFFIC_H_
#define RINGSIDE_COMMON_TRAFFIC_H_

#include <cstdint>

namespace ringside {

struct TrafficCounters {
  int64_t payload_bytes_sent = 0;
  int64_t payload_bytes_received = 0;
  int64_t messages_sent = 0;
  int64_t messages_received = 0;
  int64_t header_bytes_sent = 0;
  int64_t header_bytes_received = 0;

  TrafficCounters& operator+=(const TrafficCounters& o) { return Accumulate(o, 1); }
  TrafficCounters& operator-=(const TrafficCounters& o) { return Accumulate(o, -1); }
  friend TrafficCounters operator*(TrafficCounters each, int64_t times) {
    TrafficCounters sum;
    sum.Accumulate(each, times);
    return sum;
  }
  friend bool operator==(const TrafficCounters& a, const TrafficCounters& b) {
    return a.payload_bytes_sent == b.payload_bytes_sent &&
           a.payload_bytes_received == b.payload_bytes_received &&
           a.messages_sent == b.messages_sent && a.messages_received == b.messages_received &&
           a.header_bytes_sent == b.header_bytes_sent &&
           a.header_bytes_received == b.header_bytes_received;
  }

 private:
  TrafficCounters& Accumulate(const TrafficCounters& o, int64_t sign) {
    payload_bytes_sent += sign * o.payload_bytes_sent;
    payload_bytes_received += sign * o.payload_bytes_received;
    messages_sent += sign * o.messages_sent;
    messages_received += sign * o.messages_received;
    header_bytes_sent += sign * o.header_bytes_sent;
    header_bytes_received += sign * o.header_bytes_received;
    return *this;
  }
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAFFIC_H_
