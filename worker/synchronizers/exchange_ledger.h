// Which results of the open step a worker has, and which it still waits for: the bookkeeping of
// PsExchange, without I/O. Thread-compatible.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_EXCHANGE_LEDGER_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_EXCHANGE_LEDGER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/bucket_plan.h"
#include "common/element_range.h"
#include "common/frame_codec.h"
#include "common/group.h"
#include "common/unit_table.h"

namespace ringside {

class ExchangeLedger {
 public:
  struct Missing {
    int bucket = 0;           // the first that is not complete
    std::vector<int> shards;  // that have not sent all of their part of it
    int64_t bytes = 0;        // that are missing of it
  };

  // `plan` and `tables`, one a shard, outlive the ledger. `newer_results`: a result may be of a
  // later step than the open one (backup mode).
  ExchangeLedger(const BucketPlan* plan, const std::vector<UnitTable>* tables, const Group& group,
                 bool newer_results = false);

  // The open step, else the last one; -1 before the first.
  int64_t step() const { return step_; }

  // Counts a bucket as pushed; the first bucket of a step opens it. FAILED_PRECONDITION: another
  // step is open, the step has been before, or the bucket was submitted already; INVALID_ARGUMENT:
  // no such bucket, or another length than the plan's.
  absl::Status Submit(int64_t step, int bucket, int64_t elements);

  // Checks a result that came from `shard` and returns where its elements belong in the arena. The
  // caller copies, then calls Complete. INVALID_ARGUMENT or OUT_OF_RANGE: not a result, of another
  // group, generation, step or sender, or no unit of the shard; FAILED_PRECONDITION: of a bucket
  // that was not submitted; ALREADY_EXISTS: a duplicate.
  absl::StatusOr<ElementRange> Accept(int shard, const FrameHeader& header);
  bool Has(int shard, int unit) const { return accepted_[shard][unit]; }
  bool submitted(int bucket) const { return submitted_[bucket]; }
  bool open() const { return open_; }
  void Complete() { ++completed_units_; }

  // OK when every bucket of `step` was submitted. FAILED_PRECONDITION: names the first that was
  // not.
  absl::Status CheckSubmitted(int64_t step) const;
  bool AllComplete() const { return completed_units_ == total_units_; }
  // Ends the open step.
  void Close();

  // Opens `step` for results that are pulled, nothing pushed: all of them. Whatever was open is
  // forgotten.
  void OpenForPull(int64_t step);
  // The newest step that results are of. REQUIRES: newer_results and AllComplete.
  uint64_t newest() const;
  // Forgets the results of shards which have some that are older than `step`; returns those shards.
  std::vector<int> Reopen(uint64_t step);

  // What has not come yet. No shards when the last of it is just being copied.
  Missing FindMissing() const;

 private:
  // Constant after construction.
  const BucketPlan& plan_;
  const std::vector<UnitTable>& tables_;  // by shard
  const Group group_;
  const bool newer_results_;
  int64_t total_units_ = 0;

  int64_t step_ = -1;
  bool open_ = false;
  std::vector<bool> submitted_;               // by bucket
  std::vector<std::vector<bool>> accepted_;   // by shard and unit
  std::vector<std::vector<uint64_t>> steps_;  // of the accepted results
  int64_t completed_units_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_EXCHANGE_LEDGER_H_
