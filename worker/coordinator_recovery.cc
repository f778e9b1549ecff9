#include "worker/coordinator_recovery.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/coordinator/recovery_meeting.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "worker/shard_addresses.h"

namespace ringside {

CoordinatorRecovery::CoordinatorRecovery(CoordinatorClient* client, int rank,
                                         absl::Duration timeout)
    : client_(client), rank_(rank), timeout_(timeout), recovery_(client->membership().recovery()) {}

absl::StatusOr<ShardRecovery::Meeting> CoordinatorRecovery::Meet(const absl::Status& failure,
                                                                 int64_t step,
                                                                 const std::string& state) {
  absl::Status cause = failure;
  for (;;) {
    RINGSIDE_ASSIGN_OR_RETURN(const uint32_t recovery,
                              client_->AwaitRecovery(cause, step, recovery_));
    recovery_ = recovery;
    auto met = MeetForRecovery(client_, recovery, state, timeout_);
    if (!met.ok()) {  // another loss, or the end
      cause = met.status();
      continue;
    }
    LogInfo(absl::StrCat("goes on with the replaced shard (recovery ", recovery, ") at step ", step,
                         ", after: ", failure.message()));
    Meeting meeting;
    meeting.recovery = recovery;
    RINGSIDE_ASSIGN_OR_RETURN(meeting.shards, ShardAddresses(met->membership, rank_));
    meeting.workers = std::move(met->workers);
    meeting.snapshots = std::move(met->shards);
    return meeting;
  }
}

void CoordinatorRecovery::WatchReplacements(uint32_t recovery,
                                            std::function<void(const absl::Status&)> handler) {
  if (!handler) return client_->SetReplacementHandler(nullptr);
  client_->SetReplacementHandler(
      [recovery, handler = std::move(handler)](const Replacement& replacement) {
        if (replacement.recovery() <= recovery) return;
        const MemberId& shard = replacement.member().id();
        handler(WithSuspects(
            absl::AbortedError(absl::StrCat(ToString(shard), " was lost and has been replaced")),
            {shard}));
      });
}

}  // namespace ringside
