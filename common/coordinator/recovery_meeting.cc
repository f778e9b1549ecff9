#include "common/coordinator/recovery_meeting.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<RecoveryMeeting> MeetForRecovery(CoordinatorClient* client, uint32_t recovery,
                                                std::string own, absl::Duration timeout) {
  RecoveryMeeting meeting;
  meeting.membership = client->current_membership();
  RINGSIDE_ASSIGN_OR_RETURN(
      std::vector<std::string> states,
      client->GatherForAll(absl::StrCat("recovery-", recovery), EveryoneOf(meeting.membership),
                           std::move(own), timeout));
  const auto first_shard = states.begin() + meeting.membership.workers_size();
  meeting.workers.assign(std::make_move_iterator(states.begin()),
                         std::make_move_iterator(first_shard));
  meeting.shards.assign(std::make_move_iterator(first_shard),
                        std::make_move_iterator(states.end()));
  return meeting;
}

}  // namespace ringside
