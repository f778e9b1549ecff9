#include "ps_server/shard_metrics.h"

namespace ringside {

void FillResult(const ShardMetrics& metrics, ShardResult* result) {
  const ShardExecutor::Account& account = metrics.account;
  const ParameterShard::Statistics& statistics = account.statistics;
  result->set_shard(metrics.shard);
  result->set_elements(metrics.elements);
  result->set_units(account.units);
  result->set_frames(account.frames);
  result->set_queue_s(absl::ToDoubleSeconds(account.queue_time));
  result->set_fold_s(absl::ToDoubleSeconds(account.fold_time));
  result->set_serialise_s(absl::ToDoubleSeconds(account.serialise_time));
  result->set_replies(metrics.replies.replies);
  result->set_reply_s(absl::ToDoubleSeconds(metrics.replies.time));
  result->set_updates(statistics.updates);
  result->set_late_pushes(statistics.late_pushes);
  result->mutable_staleness()->Assign(statistics.staleness.begin(), statistics.staleness.end());
  result->set_snapshots_written(metrics.snapshots);
  result->set_snapshot_s(absl::ToDoubleSeconds(metrics.snapshot_time));
}

}  // namespace ringside
