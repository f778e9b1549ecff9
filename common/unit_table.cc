#include "common/unit_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/shard_map.h"

namespace ringside {

absl::Status ShardLayout::Validate(const BucketPlan& plan) const {
  if (world_size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--workers=", world_size, ": must be at least 1"));
  }
  if (num_shards < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--ps_shards=", num_shards, ": must be at least 1"));
  }
  if (num_shards > plan.total_elements()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--ps_shards=", num_shards, ": more shards than elements; must be at most ",
                     plan.total_elements(), ", the number of elements of the model"));
  }
  if (frame_bytes < 4 || frame_bytes > kMaxFramePayloadBytes || frame_bytes % 4 != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--frame_bytes=", frame_bytes,
                                                   ": must be a multiple of 4 from 4 to ",
                                                   kMaxFramePayloadBytes));
  }
  return absl::OkStatus();
}

UnitTable::UnitTable(const BucketPlan& plan, const ShardLayout& layout, int shard)
    : layout_(layout), shard_(shard) {
  RINGSIDE_CHECK(layout.Validate(plan).ok() && shard >= 0 && shard < layout.num_shards);
  for (int bucket = 0; bucket < plan.size(); ++bucket) {
    bucket_elements_.push_back(plan.bucket(bucket).length);
    first_of_bucket_.push_back(size());
    for (const ShardUnit& unit : ShardUnits(plan.bucket(bucket).length, layout.world_size,
                                            layout.num_shards, shard, layout.max_unit_elements())) {
      units_.push_back({bucket, unit.range, unit.chunk, elements_});
      elements_ += unit.range.length;
    }
  }
  first_of_bucket_.push_back(size());
}

absl::StatusOr<int> UnitTable::Find(const FrameHeader& header) const {
  if (header.bucket >= bucket_elements_.size()) {
    return absl::OutOfRangeError(
        absl::StrCat(Describe(header), ": there is no such bucket, the plan has ", num_buckets()));
  }
  const int bucket = static_cast<int>(header.bucket);
  const int64_t length = bucket_elements_[bucket];
  // The offset is the sender's word: compare without adding to it, which could overflow.
  if (header.offset >= static_cast<uint64_t>(length) ||
      header.elements > length - static_cast<int64_t>(header.offset)) {
    return absl::OutOfRangeError(
        absl::StrCat(Describe(header), ": the bucket has ", length, " elements"));
  }
  const auto offset = static_cast<int64_t>(header.offset);
  const ElementRange stripe = ShardStripe(length, layout_.num_shards, shard_);
  if (offset < stripe.begin || offset >= stripe.end()) {
    return absl::InvalidArgumentError(absl::StrCat(Describe(header), ": not a unit of shard ",
                                                   shard_, ", which has elements ", stripe.begin,
                                                   " to ", stripe.end(), " of the bucket"));
  }
  const auto first = units_.begin() + first_of_bucket_[bucket];
  const auto last = units_.begin() + first_of_bucket_[bucket + 1];
  const auto behind = std::upper_bound(
      first, last, offset, [](int64_t at, const Unit& unit) { return at < unit.range.begin; });
  const Unit& unit = *(behind - 1);  // exists: the stripe is not empty and begins with a unit
  if (unit.range.begin != offset || unit.range.length != header.elements) {
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(header), ": is no unit; the unit there has offset ", unit.range.begin,
                     " and ", unit.range.length, " elements"));
  }
  return static_cast<int>(behind - 1 - units_.begin());
}

}  // namespace ringside
