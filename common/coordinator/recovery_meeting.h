// Where everybody, workers and shards, meets after a lost shard has been replaced, to tell each
// other what they have and agree on where all go on (common/recovery_plan.h).
#ifndef RINGSIDE_COMMON_COORDINATOR_RECOVERY_MEETING_H_
#define RINGSIDE_COMMON_COORDINATOR_RECOVERY_MEETING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/coordinator/coordinator_client.h"
#include "coordinator.pb.h"

namespace ringside {

struct RecoveryMeeting {
  Membership membership;             // with the replacement
  std::vector<std::string> workers;  // what they said, by rank
  std::vector<std::string> shards;   // by number
};

// Blocks until all have come that are members after replacement number `recovery` (at least 1), or
// until `timeout`. `own` is what this member has to say. The errors are those of
// CoordinatorClient::GatherForAll under a name that begins with "recovery-".
absl::StatusOr<RecoveryMeeting> MeetForRecovery(CoordinatorClient* client, uint32_t recovery,
                                                std::string own, absl::Duration timeout);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_RECOVERY_MEETING_H_
