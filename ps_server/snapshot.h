// The state of one shard after a step, and whose it is. Values.
#ifndef RINGSIDE_PS_SERVER_SNAPSHOT_H_
#define RINGSIDE_PS_SERVER_SNAPSHOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace ringside {

// A snapshot is of use to nobody but the shard that has all of these.
struct SnapshotIdentity {
  std::string job;  // what tells this run of the job from any other in the same folder
  int shard = 0;
  int num_shards = 1;
  std::string plan_hash;      // of the bucket plan
  std::string settings_hash;  // of whatever else must not change, such as the optimizer
};

// What is saved, lent by the shard for the call: nothing is copied.
struct SnapshotView {
  uint64_t step = 0;  // the last one that the state contains
  uint32_t generation = 0;
  absl::Span<const float> parameters;
  std::vector<absl::Span<const float>> optimizer_state;  // as Optimizer::State
  absl::Span<const uint64_t> versions;                   // a counter per unit; may be empty
};

// What is loaded.
struct ShardSnapshot {
  uint64_t step = 0;
  uint32_t generation = 0;
  std::vector<float> parameters;
  std::vector<std::vector<float>> optimizer_state;
  std::vector<uint64_t> versions;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SNAPSHOT_H_
