// Barrier, exact reduction and gather among named members. A state machine: no threads, no I/O, no
// clock.
#ifndef RINGSIDE_COMMON_COORDINATOR_MEETING_H_
#define RINGSIDE_COMMON_COORDINATOR_MEETING_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/coordinator/member_list.h"
#include "coordinator.pb.h"

namespace ringside {

enum class MeetingKind { kBarrier, kReduce, kGather, kGatherForAll };

// A meeting after a loss, see Meetings.
bool IsRecovery(absl::string_view name);

// What one caller brings to a meeting.
struct Contribution {
  MeetingKind kind = MeetingKind::kBarrier;
  std::string name;
  std::vector<MemberId> members;  // who takes part, in the order of the fold
  std::vector<int64_t> integers;
  std::vector<double> doubles;
  std::string blob;
};

// What a waiting call is to be answered with.
struct MeetingAnswer {
  uint64_t call = 0;
  absl::Status status;
  std::vector<int64_t> integers;
  std::vector<double> doubles;
  std::vector<std::string> blobs;
};

// All meetings of one generation. A meeting is over as soon as all its members have arrived; then
// all calls are answered. Its name cannot be used again: who comes late to a meeting that failed
// learns why. Errors: INVALID_ARGUMENT: this caller's own mistake, the others keep waiting.
// FAILED_PRECONDITION: the callers disagree, or one has left the job; ends the meeting for all.
// DEADLINE_EXCEEDED: the first caller's time is over, names who is missing (with suspects).
//
// A member that was lost and is to be replaced is awaited like any other: whoever takes its place
// arrives for it. But in "recovery-<k>" (and any name that begins so) those meet who know of the
// k-th replacement, so the next loss or replacement ends it, with ABORTED naming the lost member.
class Meetings {
 public:
  explicit Meetings(std::vector<MemberId> job_members) : job_members_(std::move(job_members)) {}

  // `call` is a number that the caller has not used before. Returns the answers that are due now;
  // none while others are missing.
  std::vector<MeetingAnswer> Arrive(uint64_t call, const MemberId& who, Contribution contribution,
                                    absl::Time now, absl::Duration timeout);
  // The caller went away; it counts as missing again.
  void Withdraw(uint64_t call);
  // Nobody will arrive from there any more.
  std::vector<MeetingAnswer> MemberLeft(const MemberId& who);
  // The member's process is no more, and another will take its place. What it had arrived at it
  // has not arrived at any more.
  std::vector<MeetingAnswer> MemberLost(const MemberId& who);
  // The other is there, as the `recovery`-th (from 1, ascending).
  std::vector<MeetingAnswer> MemberReplaced(const MemberId& who, uint32_t recovery);
  std::vector<MeetingAnswer> Expire(absl::Time now);
  // Ends every meeting in progress.
  std::vector<MeetingAnswer> FailAll(const absl::Status& status);

 private:
  struct Arrival {
    uint64_t call = 0;
    Contribution contribution;
    absl::Time deadline;
    absl::Duration timeout;
  };
  struct Meeting {
    MeetingKind kind = MeetingKind::kBarrier;
    std::vector<MemberId> members;
    std::map<MemberId, Arrival, MemberOrder> arrivals;
  };

  absl::Status CheckCaller(const MemberId& who, const Contribution& contribution) const;
  absl::Status CheckAgainst(const Meeting& meeting, const MemberId& who,
                            const Contribution& contribution) const;
  // Not OK: a recovery that is out of date, see above.
  absl::Status CheckRecovery(const Contribution& contribution) const;
  static std::vector<MemberId> Missing(const Meeting& meeting);
  static std::vector<MeetingAnswer> Complete(const Meeting& meeting);
  // Ends the meeting for all who wait.
  std::vector<MeetingAnswer> Fail(const std::string& name, const absl::Status& status);

  const std::vector<MemberId> job_members_;
  std::set<MemberId, MemberOrder> left_;
  std::set<MemberId, MemberOrder> lost_;  // and not replaced yet
  uint32_t recovery_ = 0;
  MemberId replaced_;  // by the last recovery
  std::map<std::string, Meeting> open_;
  std::map<std::string, absl::Status> closed_;  // how each meeting ended
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_MEETING_H_
