#include "worker/synchronizers/local_summer.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/reduction.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<LocalSummer>> LocalSummer::Create(Config config) {
  if (config.world_size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a local summer needs at least 1 rank, not ", config.world_size));
  }
  const int64_t elements = config.plan.total_elements();
  std::vector<std::unique_ptr<Arena>> copies(config.lent ? 0 : config.world_size);
  for (std::unique_ptr<Arena>& arena : copies) {
    RINGSIDE_ASSIGN_OR_RETURN(arena, Arena::Create(elements, Arena::Placement::kHeap));
  }
  std::unique_ptr<Arena> sums;  // those of a single rank are its gradients
  if (config.world_size > 1) {
    RINGSIDE_ASSIGN_OR_RETURN(sums, Arena::Create(elements, Arena::Placement::kHeap));
  }
  return absl::WrapUnique(new LocalSummer(std::move(config), std::move(copies), std::move(sums)));
}

LocalSummer::LocalSummer(Config config, std::vector<std::unique_ptr<Arena>> copies,
                         std::unique_ptr<Arena> sums)
    : config_(std::move(config)),
      copies_(std::move(copies)),
      sums_(std::move(sums)),
      last_step_(config_.plan.size(), std::vector<int64_t>(config_.world_size, -1)),
      gradients_(config_.plan.size(), std::vector<absl::Span<const float>>(config_.world_size)) {
  for (int bucket = 0; bucket < config_.plan.size(); ++bucket) {
    const ElementRange& range = config_.plan.bucket(bucket);
    for (size_t rank = 0; rank < copies_.size(); ++rank) {
      gradients_[bucket][rank] = copies_[rank]->span().subspan(range.begin, range.length);
    }
  }
}

absl::Status LocalSummer::Check(const GradientBucket& bucket) const {
  const std::string what = absl::StrCat("gradients of rank ", bucket.rank, ", step ", bucket.step,
                                        ", bucket ", bucket.bucket);
  if (bucket.rank < 0 || bucket.rank >= config_.world_size) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, ": ranks go from 0 to ", config_.world_size - 1));
  }
  if (bucket.bucket < 0 || bucket.bucket >= config_.plan.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, ": buckets go from 0 to ", config_.plan.size() - 1));
  }
  const int64_t length = config_.plan.bucket(bucket.bucket).length;
  if (static_cast<int64_t>(bucket.gradients.size()) != length) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, ": ", bucket.gradients.size(), " elements, the plan says ", length));
  }
  if (last_step_[bucket.bucket][bucket.rank] >= bucket.step) {
    return absl::FailedPreconditionError(absl::StrCat(what, ": submitted before"));
  }
  return absl::OkStatus();
}

void LocalSummer::Submit(const GradientBucket& bucket) {
  const absl::Status status = Check(bucket);
  if (!status.ok()) return Fail(status);
  if (config_.lent) {
    gradients_[bucket.bucket][bucket.rank] = bucket.gradients;
  } else {
    const ElementRange& range = config_.plan.bucket(bucket.bucket);
    std::copy(bucket.gradients.begin(), bucket.gradients.end(),
              copies_[bucket.rank]->span().begin() + range.begin);
  }
  last_step_[bucket.bucket][bucket.rank] = bucket.step;
}

absl::Status LocalSummer::FirstMissing(int64_t step) const {
  for (int rank = 0; rank < config_.world_size; ++rank) {
    for (int bucket = 0; bucket < config_.plan.size(); ++bucket) {
      const int64_t last = last_step_[bucket][rank];
      if (last == step) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          "step ", step, " cannot be summed: bucket ", bucket, " of rank ", rank,
          last < 0 ? " was never submitted" : absl::StrCat(" was submitted for step ", last)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const float>> LocalSummer::Finish(int64_t step) {
  RINGSIDE_RETURN_IF_ERROR(StickyError());
  const absl::Status missing = FirstMissing(step);
  if (!missing.ok()) {
    Fail(missing);
    return missing;
  }
  if (sums_ == nullptr) return OfSingleRank();
  for (int bucket = 0; bucket < config_.plan.size(); ++bucket) {
    const ElementRange& range = config_.plan.bucket(bucket);
    FoldInLawOrder(config_.wire_dtype, gradients_[bucket],
                   sums_->span().subspan(range.begin, range.length));
  }
  return sums_->span();
}

absl::StatusOr<absl::Span<const float>> LocalSummer::OfSingleRank() {
  const float* const begin = gradients_[0][0].data() - config_.plan.bucket(0).begin;
  for (int bucket = 1; bucket < config_.plan.size(); ++bucket) {
    if (gradients_[bucket][0].data() == begin + config_.plan.bucket(bucket).begin) continue;
    Fail(absl::FailedPreconditionError(
        absl::StrCat("bucket ", bucket, " lies apart from the others of its rank's gradients")));
    return StickyError();
  }
  return absl::MakeConstSpan(begin, config_.plan.total_elements());
}

absl::Span<const float> LocalSummer::Submitted(const GradientBucket& bucket) const {
  return gradients_[bucket.bucket][bucket.rank];
}

void LocalSummer::Abort(absl::Status cause) { Fail(std::move(cause)); }

absl::Status LocalSummer::Shutdown() { return StickyError(); }

absl::Status LocalSummer::StickyError() const {
  MutexLock lock(&mutex_);
  return status_;
}

void LocalSummer::Fail(absl::Status status) {
  MutexLock lock(&mutex_);
  if (status_.ok()) status_ = std::move(status);
}

}  // namespace ringside
