// What this machine's cores can copy and add at most, by the kernels that every strategy uses.
#ifndef RINGSIDE_EXPERIMENTS_CEILINGS_MEMORY_CEILING_H_
#define RINGSIDE_EXPERIMENTS_CEILINGS_MEMORY_CEILING_H_

#include "absl/status/statusor.h"
#include "results.pb.h"

namespace ringside {

struct MemoryCeilings {
  // Through 64 MiB and back into 64 MiB more, which few caches hold: by one core, and by all at
  // once, each in a part of its own. Where caches are larger, it is partly theirs.
  MemoryCeiling one_core;
  MemoryCeiling all_cores;
  // One core, 128 KiB into 128 KiB more: nobody moves bytes faster than this through memory that
  // processes share.
  double cached_copy_bytes_per_s = 0;
};

// With a thread for each of `cores`, which is at least 1; beyond 16 no more of them, because their
// parts would fit into their caches. Takes 0.2 s, and where memory has no huge pages as much
// again. Safe from any thread. RESOURCE_EXHAUSTED: no memory.
absl::StatusOr<MemoryCeilings> ProbeMemory(int cores);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CEILINGS_MEMORY_CEILING_H_
