// From a process's spans to the life of each bucket in it: the moments that its phases lie between.
// Pure.
#ifndef RINGSIDE_COMMON_TRACE_BUCKET_LIFE_H_
#define RINGSIDE_COMMON_TRACE_BUCKET_LIFE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trace.pb.h"

namespace ringside {

struct BucketLife {
  struct Phase {
    std::string name;
    int64_t begin_ns = 0;
    int64_t end_ns = 0;  // at least the beginning, and the next phase's beginning
  };

  int64_t step = 0;
  int bucket = 0;
  int rank = -1;              // of a worker's, whose gradient it is
  std::vector<Phase> phases;  // at least one
};

// By step, bucket and rank. A worker's bucket is ready (its last gradient is there), submitted,
// under way (on the wire), summed and applied; a shard's arrives, first from one worker and at last
// from all, is folded and sent back. Moments that were not recorded have no phase.
std::vector<BucketLife> BucketLives(const ProcessTrace& trace);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRACE_BUCKET_LIFE_H_
