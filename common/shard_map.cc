#include "common/shard_map.h"

#include <algorithm>

#include "common/check.h"

namespace ringside {

ElementRange ShardStripe(int64_t bucket_elements, int num_shards, int shard) {
  return Part({0, bucket_elements}, num_shards, shard);
}

std::vector<ShardUnit> ShardUnits(int64_t bucket_elements, int world_size, int num_shards,
                                  int shard, int64_t max_unit_elements) {
  RINGSIDE_CHECK(max_unit_elements > 0);
  const ElementRange stripe = ShardStripe(bucket_elements, num_shards, shard);
  std::vector<ShardUnit> units;
  for (int chunk = 0; chunk < world_size; ++chunk) {
    const ElementRange common = Intersect(stripe, Part({0, bucket_elements}, world_size, chunk));
    for (int64_t begin = common.begin; begin < common.end(); begin += max_unit_elements) {
      units.push_back({{begin, std::min(max_unit_elements, common.end() - begin)}, chunk});
    }
  }
  return units;
}

}  // namespace ringside
