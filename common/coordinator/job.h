// The coordinator's rules as a whole: rendezvous, then meetings and leases, until all have left or
// there is a verdict. A state machine: no threads, no I/O, no clock.
#ifndef RINGSIDE_COMMON_COORDINATOR_JOB_H_
#define RINGSIDE_COMMON_COORDINATOR_JOB_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "common/coordinator/failure_arbiter.h"
#include "common/coordinator/meeting.h"
#include "common/coordinator/rendezvous.h"
#include "coordinator.pb.h"

namespace ringside {

// Whoever drives the job gives it events and does what they entail: answers the joins and meetings
// that are due, and tells every open session when there is a verdict. `session` and `call` are
// numbers of the driver's that are never used twice.
class Job {
 public:
  struct JoinAnswer {
    uint64_t session = 0;
    absl::StatusOr<Membership> membership;
  };
  struct Effects {
    std::vector<JoinAnswer> joins;
    std::vector<MeetingAnswer> meetings;
    bool verdict_is_new = false;
  };
  struct MemberState {
    Member member;
    Progress progress;
    bool left = false;
  };

  explicit Job(Rendezvous::Config config) : config_(config), rendezvous_(std::move(config)) {}

  // The session under which the answer will come, perhaps in these same effects. On error the
  // joiner is refused; see Rendezvous::Join. ABORTED: the job has a verdict.
  absl::StatusOr<uint64_t> Join(const JoinRequest& request, uint64_t session, absl::Time now,
                                Effects* effects);
  // The caller of Join went away before it had an answer.
  void JoinCancelled(uint64_t session);

  // Who calls. UNAUTHENTICATED: no such session, or one of another generation.
  absl::StatusOr<MemberId> Identify(const Caller& caller) const;
  absl::StatusOr<MemberId> IdentifySession(uint64_t session) const;

  // All below: `who` is what Identify returned.
  void Heartbeat(const MemberId& who, const Progress& progress, absl::Time now);
  void SessionClosed(const MemberId& who, Effects* effects);
  void Arrive(uint64_t call, const MemberId& who, Contribution contribution, absl::Time now,
              absl::Duration timeout, Effects* effects);
  void CallCancelled(uint64_t call);
  void ReportFailure(const MemberId& who, const FailureReport& report, absl::Time now,
                     Effects* effects);
  void Leave(const MemberId& who, Effects* effects);

  // A process was seen to end, whether it has joined or not.
  void ReportExit(const MemberId& id, const std::string& how, Effects* effects);
  void Tick(absl::Time now, Effects* effects);

  bool complete() const { return arbiter_.has_value(); }
  // Who is there and who is missing, while not complete.
  std::string RendezvousProgress() const { return rendezvous_.Progress(); }
  absl::optional<Verdict> verdict() const;
  // All members have left or, after a verdict, have left or are gone.
  bool Ended() const;
  // Workers by rank, then shards; empty until complete.
  std::vector<MemberState> Members() const;

 private:
  void Complete(absl::Time now, Effects* effects);
  // Follows up on a verdict that has just come about.
  void Settle(Effects* effects);

  const Rendezvous::Config config_;
  Rendezvous rendezvous_;
  std::vector<uint64_t> waiting_;  // sessions of joiners without an answer
  std::map<uint64_t, MemberId> sessions_;
  absl::optional<Meetings> meetings_;       // once complete
  absl::optional<FailureArbiter> arbiter_;  // once complete
  absl::optional<Verdict> early_verdict_;   // one that came before completion
  bool settled_ = false;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_JOB_H_
