#include "worker/synchronizers/training_end.h"

#include <algorithm>

namespace ringside {

bool TrainingEnd::Lost(int shard) {
  const bool all_done = std::find(finished_.begin(), finished_.end(), true) != finished_.end();
  if (!begun_ || final_results_ || !all_done) return false;
  lost_[shard] = true;
  return true;
}

std::vector<int> TrainingEnd::Lacking() const {
  std::vector<int> shards;
  for (size_t shard = 0; shard < finished_.size(); ++shard) {
    if (!finished_[shard] && !lost_[shard]) shards.push_back(static_cast<int>(shard));
  }
  return shards;
}

}  // namespace ringside
