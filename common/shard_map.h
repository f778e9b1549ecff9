// Which elements of a bucket each shard of a parameter server owns, and in which units it works.
//
// Every bucket is striped over all shards (stripe s of a bucket is part s of num_shards, see Part),
// so that no shard idles while buckets overlap with backward, and one large tensor is cut like any
// other. The unit of pushing, folding and replying is bucket ∩ chunk ∩ stripe, cut into pieces of
// at most `max_unit_elements`: within a unit the order of folding is the same for all elements.
// Worker and server compute the same list; it is never sent.
#ifndef RINGSIDE_COMMON_SHARD_MAP_H_
#define RINGSIDE_COMMON_SHARD_MAP_H_

#include <cstdint>
#include <vector>

#include "common/element_range.h"

namespace ringside {

struct ShardUnit {
  ElementRange range;  // within the bucket: 0 is the bucket's first element
  int chunk = 0;       // also the index of the rank whose gradient starts the fold
};

// Elements of a bucket of `bucket_elements` that `shard` owns.
ElementRange ShardStripe(int64_t bucket_elements, int num_shards, int shard);

// In ascending order of position. Empty when the stripe is (more shards than elements).
std::vector<ShardUnit> ShardUnits(int64_t bucket_elements, int world_size, int num_shards,
                                  int shard, int64_t max_unit_elements);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SHARD_MAP_H_
