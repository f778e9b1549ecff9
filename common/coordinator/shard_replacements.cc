#include "common/coordinator/shard_replacements.h"

#include <algorithm>
#include <utility>

#include "common/check.h"

namespace ringside {

const ShardReplacements::Loss& ShardReplacements::Await(const MemberId& shard, int64_t step,
                                                        absl::string_view why, absl::Time now) {
  RINGSIDE_CHECK(left() && Find(shard) == nullptr);
  Loss& loss = awaited_[shard];
  loss.shard = shard;
  loss.step = step;
  loss.why = std::string(why);
  loss.number = ++used_;
  loss.deadline = now + config_.timeout;
  new_.push_back(loss);
  return loss;
}

const ShardReplacements::Loss* ShardReplacements::Find(const MemberId& shard) const {
  const auto awaited = awaited_.find(shard);
  return awaited == awaited_.end() ? nullptr : &awaited->second;
}

const ShardReplacements::Loss& ShardReplacements::Earliest() const {
  RINGSIDE_CHECK(any());
  return std::min_element(
             awaited_.begin(), awaited_.end(),
             [](const auto& a, const auto& b) { return a.second.number < b.second.number; })
      ->second;
}

uint32_t ShardReplacements::Replaced(const MemberId& shard) {
  const auto awaited = awaited_.find(shard);
  RINGSIDE_CHECK(awaited != awaited_.end());
  replaced_.push_back(awaited->second);
  awaited_.erase(awaited);
  return ++recovery_;
}

absl::optional<ShardReplacements::Loss> ShardReplacements::Unhealed() const {
  absl::optional<Loss> first;
  if (any()) first = Earliest();
  for (const Loss& loss : replaced_) {
    if (!first.has_value() || loss.number < first->number) first = loss;
  }
  return first;
}

absl::optional<ShardReplacements::Loss> ShardReplacements::Overdue(absl::Time now) const {
  if (!any() || Earliest().deadline > now) return absl::nullopt;
  return Earliest();
}

void ShardReplacements::Postpone(absl::Duration gap) {
  for (auto& [shard, loss] : awaited_) loss.deadline += gap;
}

std::vector<ShardReplacements::Loss> ShardReplacements::TakeNew() {
  return std::exchange(new_, {});
}

}  // namespace ringside
