#include "allreduce/ring_traffic.h"

#include "common/frame_codec.h"

namespace ringside {

TrafficCounters RingTraffic(absl::Span<const int64_t> bucket_elements, int size, int index,
                            int64_t segment_elements, WireDtype dtype) {
  TrafficCounters sum;
  if (size < 2) return sum;
  int64_t sent = 0;
  int64_t received = 0;
  for (const int64_t elements : bucket_elements) {
    const int64_t base = elements / size;
    const int64_t longer = elements % size;  // so many chunks have one element more
    const auto length = [&](int chunk) { return base + (chunk % size < longer ? 1 : 0); };
    const auto segments = [&](int64_t chunk_length) {
      return (chunk_length + segment_elements - 1) / segment_elements;
    };
    const int64_t all = longer * segments(base + 1) + (size - longer) * segments(base);
    sent += 2 * elements - length(index + 1) - length(index + 2);
    received += 2 * elements - length(index) - length(index + 1);
    sum.messages_sent += 2 * all - segments(length(index + 1)) - segments(length(index + 2));
    sum.messages_received += 2 * all - segments(length(index)) - segments(length(index + 1));
  }
  sum.payload_bytes_sent = sent * BytesPerElement(dtype);
  sum.payload_bytes_received = received * BytesPerElement(dtype);
  sum.header_bytes_sent = sum.messages_sent * static_cast<int64_t>(kFrameHeaderBytes);
  sum.header_bytes_received = sum.messages_received * static_cast<int64_t>(kFrameHeaderBytes);
  return sum;
}

}  // namespace ringside
