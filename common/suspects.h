// A broken link is not yet a verdict: the error carries whom it suspects, and the coordinator
// decides.
#ifndef RINGSIDE_COMMON_SUSPECTS_H_
#define RINGSIDE_COMMON_SUSPECTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator.pb.h"

namespace ringside {

MemberId WorkerId(int rank);
MemberId ShardId(int shard);
// "worker 2", "shard 0"
std::string ToString(const MemberId& id);
// "worker 0, worker 2, shard 1"
std::string ToString(const std::vector<MemberId>& ids);

// Attaches the members that an error is about; does nothing to OK.
absl::Status WithSuspects(absl::Status status, const std::vector<MemberId>& suspects);
// Empty where none were attached: then the process that has the error is itself its cause.
std::vector<MemberId> SuspectsOf(const absl::Status& status);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SUSPECTS_H_
