#include "worker/synchronizers/exchange_ledger.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ringside {

ExchangeLedger::ExchangeLedger(const BucketPlan* plan, const std::vector<UnitTable>* tables,
                               const Group& group, bool newer_results)
    : plan_(*plan),
      tables_(*tables),
      group_(group),
      newer_results_(newer_results),
      submitted_(plan->size(), false) {
  for (const UnitTable& table : tables_) {
    accepted_.emplace_back(table.size(), false);
    steps_.emplace_back(table.size(), 0);
    total_units_ += table.size();
  }
}

absl::Status ExchangeLedger::Submit(int64_t step, int bucket, int64_t elements) {
  if (bucket < 0 || bucket >= plan_.size() || elements != plan_.bucket(bucket).length) {
    return absl::InvalidArgumentError(absl::StrCat(
        "bucket ", bucket, " of ", elements, " elements at step ", step, " is not in the plan"));
  }
  if (open_ ? step != step_ : step <= step_) {
    return absl::FailedPreconditionError(absl::StrCat("bucket ", bucket, " of step ", step,
                                                      " was submitted ", open_ ? "while" : "after",
                                                      " step ", step_, open_ ? " is open" : ""));
  }
  if (!open_) {
    open_ = true;
    step_ = step;
  }
  if (submitted_[bucket]) {
    return absl::FailedPreconditionError(
        absl::StrCat("bucket ", bucket, " of step ", step, " was submitted twice"));
  }
  submitted_[bucket] = true;
  return absl::OkStatus();
}

absl::StatusOr<ElementRange> ExchangeLedger::Accept(int shard, const FrameHeader& header) {
  const auto refuse = [&](absl::StatusCode code, const auto&... why) {
    return absl::Status(code,
                        absl::StrCat("worker ", group_.rank(), " refuses the ", Describe(header),
                                     " on the stream of shard ", shard, ": ", why...));
  };
  if (header.kind != FrameKind::kResult)
    return refuse(absl::StatusCode::kInvalidArgument, "not a result");
  if (header.group != group_.id || header.generation != group_.generation) {
    return refuse(absl::StatusCode::kInvalidArgument, "this is group ", group_.id, " generation ",
                  group_.generation);
  }
  if (header.sender != static_cast<uint32_t>(shard))
    return refuse(absl::StatusCode::kInvalidArgument, "another sender");
  const auto step = static_cast<uint64_t>(step_);
  if (!open_ || (newer_results_ ? header.step < step : header.step != step)) {
    return refuse(absl::StatusCode::kInvalidArgument,
                  open_ ? "open is step " : "no step is open; the last was ", step_);
  }
  RINGSIDE_ASSIGN_OR_RETURN(const int unit, tables_[shard].Find(header));
  if (!submitted_[header.bucket])
    return refuse(absl::StatusCode::kFailedPrecondition, "the bucket was not pushed yet");
  if (accepted_[shard][unit]) return refuse(absl::StatusCode::kAlreadyExists, "it is a duplicate");
  accepted_[shard][unit] = true;
  steps_[shard][unit] = header.step;
  const ElementRange& range = tables_[shard].unit(unit).range;
  return ElementRange{plan_.bucket(static_cast<int>(header.bucket)).begin + range.begin,
                      range.length};
}

absl::Status ExchangeLedger::CheckSubmitted(int64_t step) const {
  const auto first = std::find(submitted_.begin(), submitted_.end(), false);
  if (open_ && step == step_ && first == submitted_.end()) return absl::OkStatus();
  const auto bucket = open_ && step == step_ ? first - submitted_.begin() : 0;
  return absl::FailedPreconditionError(
      absl::StrCat("bucket ", bucket, " of step ", step, " was not submitted"));
}

void ExchangeLedger::Close() {
  open_ = false;
  std::fill(submitted_.begin(), submitted_.end(), false);
  for (std::vector<bool>& units : accepted_) std::fill(units.begin(), units.end(), false);
  completed_units_ = 0;
}

void ExchangeLedger::OpenForPull(int64_t step) {
  Close();
  open_ = true;
  step_ = step;
  std::fill(submitted_.begin(), submitted_.end(), true);
}

uint64_t ExchangeLedger::newest() const {
  uint64_t newest = 0;
  for (const std::vector<uint64_t>& steps : steps_) {
    for (uint64_t step : steps) newest = std::max(newest, step);
  }
  return newest;
}

std::vector<int> ExchangeLedger::Reopen(uint64_t step) {
  std::vector<int> shards;
  for (int shard = 0; shard < static_cast<int>(tables_.size()); ++shard) {
    std::vector<uint64_t>& steps = steps_[shard];
    if (std::none_of(steps.begin(), steps.end(), [step](uint64_t own) { return own < step; }))
      continue;
    shards.push_back(shard);
    completed_units_ -= tables_[shard].size();
    std::fill(accepted_[shard].begin(), accepted_[shard].end(), false);
  }
  return shards;
}

ExchangeLedger::Missing ExchangeLedger::FindMissing() const {
  for (Missing missing{}; missing.bucket < plan_.size(); ++missing.bucket) {
    for (int shard = 0; shard < static_cast<int>(tables_.size()); ++shard) {
      const UnitTable& table = tables_[shard];
      int64_t elements = 0;
      for (int unit = table.first_of_bucket(missing.bucket);
           unit < table.first_of_bucket(missing.bucket + 1); ++unit) {
        if (!accepted_[shard][unit]) elements += table.unit(unit).range.length;
      }
      if (elements > 0) missing.shards.push_back(shard);
      missing.bytes += elements * static_cast<int64_t>(sizeof(float));
    }
    if (!missing.shards.empty()) return missing;
  }
  return {plan_.size() - 1, {}, 0};
}

}  // namespace ringside
