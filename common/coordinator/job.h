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
#include "common/coordinator/shard_replacements.h"
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
  // A session that is over, though its process may be alive: it is told why, in the form of a
  // verdict about itself.
  struct Dismissal {
    uint64_t session = 0;
    Verdict verdict;
  };
  struct Effects {
    std::vector<JoinAnswer> joins;
    std::vector<MeetingAnswer> meetings;
    std::vector<Dismissal> dismissals;
    std::vector<Replacement> replacements;  // for all open sessions but the newcomers' own
    std::vector<std::string> remarks;       // one line each, for whoever watches the job
    bool verdict_is_new = false;
  };
  struct MemberState {
    Member member;
    Progress progress;
    bool left = false;
    bool awaits_replacement = false;  // lost; `member` is the lost process
  };

  // `tolerated.timeout` counts where `tolerated.restarts` is positive.
  explicit Job(Rendezvous::Config config, ShardReplacements::Config tolerated = {});

  // The session under which the answer will come, perhaps in these same effects. On error the
  // joiner is refused; see Rendezvous::Join. ABORTED: the job has a verdict. Where losses of shards
  // are tolerated, a process may join as a shard that is lost, and wait up to one lease for the
  // loss of one that is not known to be lost.
  absl::StatusOr<uint64_t> Join(const JoinRequest& request, uint64_t session, absl::Time now,
                                Effects* effects);
  // The caller of Join went away before it had an answer.
  void JoinCancelled(uint64_t session);

  // Who calls. UNAUTHENTICATED: no such session, or one of another generation.
  absl::StatusOr<MemberId> Identify(const Caller& caller) const;
  absl::StatusOr<MemberId> IdentifySession(uint64_t session) const;
  // What a session that is opened now has not been told of. Requires that IdentifySession knows it.
  std::vector<Replacement> ReplacementsSinceJoin(uint64_t session) const;

  // All below: `who` is what Identify returned.
  // A verdict that comes of it is told with the next Tick.
  void Heartbeat(const MemberId& who, const Progress& progress, absl::Time now);
  void SessionClosed(const MemberId& who, absl::Time now, Effects* effects);
  void Arrive(uint64_t call, const MemberId& who, Contribution contribution, absl::Time now,
              absl::Duration timeout, Effects* effects);
  void CallCancelled(uint64_t call);
  void ReportFailure(const MemberId& who, const FailureReport& report, absl::Time now,
                     Effects* effects);
  void Leave(const MemberId& who, absl::Time now, Effects* effects);

  // A process was seen to end, whether it has joined or not.
  void ReportExit(const MemberId& id, const std::string& how, absl::Time now, Effects* effects);
  // The same, but another process will join in its place.
  void ReportRestart(const MemberId& id, const std::string& how, absl::Time now, Effects* effects);
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
  struct Session {
    MemberId id;
    uint32_t recovery = 0;  // that its membership says
  };
  // Would replace a shard that is not known to be lost.
  struct Candidate {
    uint64_t session = 0;
    JoinRequest request;
    absl::Time deadline;
  };

  void Complete(absl::Time now, Effects* effects);
  bool IsReplacement(const JoinRequest& request) const;
  absl::StatusOr<uint64_t> JoinAsReplacement(const JoinRequest& request, uint64_t session,
                                             absl::Time now, Effects* effects);
  void Replace(const JoinRequest& request, uint64_t session, absl::Time now, Effects* effects);
  void DismissCandidates(absl::Time now, Effects* effects);
  // Follows up on losses that were tolerated and on a verdict, where they have just come about.
  void Settle(absl::Time now, Effects* effects);
  void FollowUp(const ShardReplacements::Loss& loss, absl::Time now, Effects* effects);
  static void Append(std::vector<MeetingAnswer> answers, Effects* effects);

  const Rendezvous::Config config_;
  const ShardReplacements::Config tolerated_;
  Rendezvous rendezvous_;
  std::vector<uint64_t> waiting_;  // sessions of joiners without an answer, before completion
  std::map<MemberId, Candidate, MemberOrder> candidates_;  // without an answer, after it
  std::map<uint64_t, Session> sessions_;
  std::vector<Replacement> replacements_;   // all there have been
  absl::optional<Meetings> meetings_;       // once complete
  absl::optional<FailureArbiter> arbiter_;  // once complete
  absl::optional<Verdict> early_verdict_;   // one that came before completion
  bool settled_ = false;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_JOB_H_
