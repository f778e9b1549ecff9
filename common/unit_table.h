// All units of work of one shard over a whole bucket plan (shard_map.h has them bucket by bucket),
// with the search that tells a unit from what is none. Worker and shard build the same table.
// Immutable, so free to share between threads.
#ifndef RINGSIDE_COMMON_UNIT_TABLE_H_
#define RINGSIDE_COMMON_UNIT_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/bucket_plan.h"
#include "common/element_range.h"
#include "common/frame_codec.h"

namespace ringside {

// How a plan meets a parameter server.
struct ShardLayout {
  int world_size = 1;
  int num_shards = 1;
  int64_t frame_bytes = kMaxFramePayloadBytes;  // payload of one frame at most, a multiple of 4

  int64_t max_unit_elements() const { return frame_bytes / static_cast<int64_t>(sizeof(float)); }
  // INVALID_ARGUMENT, by flag: no worker or shard, a frame size that is not allowed, more shards
  // than `plan` has elements.
  absl::Status Validate(const BucketPlan& plan) const;
};

class UnitTable {
 public:
  struct Unit {
    int bucket = 0;
    ElementRange range;  // within the bucket
    int chunk = 0;       // also the rank whose gradient starts the fold
    int64_t position =
        0;  // of its first element, when the shard's elements are packed one after another
  };

  // REQUIRES: layout.Validate(plan) is OK and 0 <= shard < num_shards.
  UnitTable(const BucketPlan& plan, const ShardLayout& layout, int shard);

  int size() const { return static_cast<int>(units_.size()); }
  const Unit& unit(int index) const { return units_[index]; }
  // Elements that the shard owns; may be 0 where every bucket has fewer elements than there are
  // shards.
  int64_t elements() const { return elements_; }
  int num_buckets() const { return static_cast<int>(first_of_bucket_.size()) - 1; }
  // The units of `bucket`, in ascending order, are first_of_bucket(bucket) to
  // first_of_bucket(bucket + 1) - 1.
  int first_of_bucket(int bucket) const { return first_of_bucket_[bucket]; }

  // The unit that a frame is about, by its bucket, offset and elements. OUT_OF_RANGE: no such
  // bucket, or the frame ends behind the bucket; INVALID_ARGUMENT: it is another shard's, or no
  // unit; says what would be right.
  absl::StatusOr<int> Find(const FrameHeader& header) const;

 private:
  const ShardLayout layout_;
  const int shard_;
  std::vector<int64_t> bucket_elements_;
  std::vector<Unit> units_;
  std::vector<int> first_of_bucket_;
  int64_t elements_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_UNIT_TABLE_H_
