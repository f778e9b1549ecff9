// What a ring all-reduce must put on the wire, by formula; runs compare it with what they counted.
// Pure.
#ifndef RINGSIDE_ALLREDUCE_RING_TRAFFIC_H_
#define RINGSIDE_ALLREDUCE_RING_TRAFFIC_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/frame_codec.h"
#include "common/traffic.h"

namespace ringside {

// One rank's traffic for one sum of every bucket. With L elements in a bucket, N ranks and
// this rank at index r,
//   elements sent     = 2 L - |chunk r+1| - |chunk r+2|     (chunks modulo N: those that a rank
//   never sends) elements received = 2 L - |chunk r|   - |chunk r+1| messages: likewise, with the
//   number of segments of a chunk in place of its length;
// nothing at all for one rank.
TrafficCounters RingTraffic(absl::Span<const int64_t> bucket_elements, int size, int index,
                            int64_t segment_elements, WireDtype dtype = WireDtype::kFloat32);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_RING_TRAFFIC_H_
