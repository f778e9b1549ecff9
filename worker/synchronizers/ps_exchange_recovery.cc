// How a worker goes on after a lost shard has been replaced: the half of PsExchange that a run
// without losses never uses.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/recovery_plan.h"
#include "common/status_macros.h"
#include "worker/synchronizers/ps_exchange.h"

namespace ringside {

absl::StatusOr<absl::optional<int64_t>> PsExchange::Recover(absl::Status failure) {
  while (config_.recovery != nullptr) {
    int64_t step = 0;
    {
      MutexLock lock(&mutex_);
      if (!aborted_.ok()) return aborted_;
      if (failure_.ok()) failure_ = failure;  // from now on no result is taken
      while (copying_ > 0) changed_.Wait(&mutex_);
      step = std::max(ledger_.step(), config_.first_step);
    }
    const auto meeting = config_.recovery->Meet(failure, step, OwnState());
    if (!meeting.ok()) {
      failure = meeting.status();
      break;
    }
    const auto rebuilt = Rebuild(*meeting);
    if (rebuilt.ok()) return rebuilt;
    failure = rebuilt.status();
  }
  MutexLock lock(&mutex_);
  failure_ = failure;
  return failure;
}

std::string PsExchange::OwnState() const {
  MutexLock lock(&mutex_);
  WorkerProgress progress;
  progress.step = std::max(ledger_.step(), config_.first_step);
  // What was received of a step that is closed is all of it; of a step that was never opened
  // nothing.
  const bool closed = !ledger_.open() && ledger_.step() >= 0;
  for (int shard = 0; shard < layout_.num_shards; ++shard) {
    progress.received.emplace_back(tables_[shard].size(), closed);
    for (int unit = 0; !closed && unit < tables_[shard].size(); ++unit) {
      progress.received.back()[unit] = ledger_.Has(shard, unit);
    }
  }
  return EncodeWorkerProgress(progress);
}

absl::StatusOr<absl::optional<int64_t>> PsExchange::Rebuild(const ShardRecovery::Meeting& meeting) {
  {
    std::shared_ptr<ShardLinks> lost;
    {
      MutexLock lock(&mutex_);
      lost.swap(links_);
      if (lost != nullptr) traffic_before_ += lost->traffic();
    }
  }  // waits until its streams are over
  {
    MutexLock lock(&mutex_);
    failure_ = aborted_;
    end_.Reset();
  }
  RINGSIDE_RETURN_IF_ERROR(Connect(meeting.shards, meeting.recovery));
  if (!config_.policy.server_has_parameters()) {
    RINGSIDE_RETURN_IF_ERROR(RestoreSums(meeting.workers));
    return absl::optional<int64_t>();
  }
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t step, GoBack(meeting.snapshots));
  return absl::optional<int64_t>(step);
}

absl::StatusOr<int64_t> PsExchange::GoBack(const std::vector<std::string>& snapshots) {
  RINGSIDE_ASSIGN_OR_RETURN(const uint64_t common, ReadCommonSnapshot(snapshots));
  const auto step = static_cast<int64_t>(common);
  {
    MutexLock lock(&mutex_);
    ledger_.OpenForPull(step);
    for (int64_t& pulls : pulls_) ++pulls;
  }
  for (int shard = 0; shard < layout_.num_shards; ++shard) SendWord(shard, FrameKind::kPull, step);
  MutexLock lock(&mutex_);
  RINGSIDE_RETURN_IF_ERROR(AwaitResults(absl::Now() + config_.step_timeout, config_.step_timeout));
  ledger_.Close();
  // A new step begins for the clock too: what was waited for is no part of the next one.
  communication_ = clock_.Finished(MonotonicNow());
  return step;
}

absl::Status PsExchange::RestoreSums(const std::vector<std::string>& workers) {
  std::vector<int> units;
  for (const UnitTable& table : tables_) units.push_back(table.size());
  RINGSIDE_ASSIGN_OR_RETURN(const SumRecovery plan,
                            ReadSumRecovery(workers, config_.group.size(), units));
  const int rank = config_.group.rank();
  for (int shard = 0; shard < layout_.num_shards; ++shard) {
    std::vector<ShardStream::Frame> frames;
    for (int unit = 0; unit < tables_[shard].size(); ++unit) {
      const UnitTable::Unit& place = tables_[shard].unit(unit);
      const absl::optional<int> restorer = plan.Restorer(shard, unit);
      if (restorer == rank) {
        FrameHeader header = Header(FrameKind::kRestore, plan.step());
        header.bucket = static_cast<uint32_t>(place.bucket);
        header.offset = static_cast<uint64_t>(place.range.begin);
        header.elements = static_cast<uint32_t>(place.range.length);
        frames.push_back(
            {header, results().subspan(config_.plan.bucket(place.bucket).begin + place.range.begin,
                                       place.range.length)});
      }
      bool lent = false;
      {
        MutexLock lock(&mutex_);
        lent = ledger_.open() && ledger_.submitted(place.bucket) && !ledger_.Has(shard, unit);
      }
      if (lent && (plan.IsAhead(rank) || !restorer.has_value())) {
        frames.push_back(PushOf(lent_[place.bucket], shard, unit));
      }
    }
    if (!frames.empty()) links()->Send(shard, frames);
  }
  return absl::OkStatus();
}

}  // namespace ringside
