// Decides who made the job end. A state machine: no threads, no I/O, no clock.
#ifndef RINGSIDE_COMMON_COORDINATOR_FAILURE_ARBITER_H_
#define RINGSIDE_COMMON_COORDINATOR_FAILURE_ARBITER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "common/coordinator/member_list.h"
#include "common/coordinator/shard_replacements.h"
#include "coordinator.pb.h"

namespace ringside {

// Causes come in two kinds. Primary ones are about the member itself and give a verdict at once: it
// reports its own failure, its session breaks, its process is seen to end, or it is silent for too
// long. Secondary ones are what others see of it: a broken link, a step that does not finish.
// Whoever reports one may itself be a victim, so it is held back until a primary cause about
// somebody turns up; only if none does within the grace is the suspect of the earliest report named
// after all. A member that has reported a suspicion and then ends is a victim, not a cause.
// There is one verdict and it does not change.
//
// A job may tolerate the loss of some shards. Then the loss of one, by whatever of these signs but
// its own report of a failure, is no verdict: a replacement is awaited instead, and the loss is
// what all suspicions came from. So is it for those that are reported before the replacement is
// there, or by whoever did not know of it yet. A worker's loss, a replacement that does not come in
// time and the loss that is one too many are verdicts as ever; so is any loss once the training is
// over for some worker (it evaluates, finishes or has left), and one from before that was not made
// good until then: that worker will not meet a replacement, and what the shard had to report is
// gone.
class FailureArbiter {
 public:
  // As parts of the lease: how often a member must be heard, from when on its silence counts as its
  // loss, and how long suspicions are held. The grace is the longer one, so that a suspect who was
  // silent at the time of the report is found by its silence first; and both leave time within one
  // lease to tell everybody.
  static constexpr double kHeartbeatInterval = 0.1;
  static constexpr double kLostAfter = 0.7;
  static constexpr double kGrace = 0.8;

  // All members count as heard at `now`: they have the usual time to open their sessions.
  FailureArbiter(absl::Duration lease, const std::vector<MemberId>& members, absl::Time now,
                 ShardReplacements::Config tolerated = {});

  void Heartbeat(const MemberId& id, const Progress& progress, absl::Time now);
  // The session's stream broke without Leave.
  void SessionClosed(const MemberId& id, absl::Time now);
  // Whoever watches the process saw it end, e.g. `how` = "killed by signal 9 (Killed)", and starts
  // no other: never tolerated, also where a replacement is awaited.
  void Exited(const MemberId& id, absl::string_view how);
  // The same, but a replacement is started.
  void Restarted(const MemberId& id, absl::string_view how, absl::Time now);
  // Without suspects: `id` itself failed.
  void Reported(const MemberId& id, const FailureReport& report, absl::Time now);
  void Left(const MemberId& id);
  // Call often compared to the lease. A long gap between two calls means that this process stood
  // still, and is not held against the members.
  void Tick(absl::Time now);

  // The loss of this member would be tolerated.
  bool Tolerates(const MemberId& id) const;
  bool Awaits(const MemberId& id) const { return replacements_.Find(id) != nullptr; }
  // Losses that were tolerated since the last call.
  std::vector<ShardReplacements::Loss> TakeLosses() { return replacements_.TakeNew(); }
  // The replacement of a shard that Awaits is there, with the usual time to open its session.
  // Returns its number, from 1.
  uint32_t Replaced(const MemberId& id, absl::Time now);
  // All members have met after the last replacement.
  void MadeGood() { replacements_.MadeGood(); }

  const absl::optional<Verdict>& verdict() const { return verdict_; }
  bool knows(const MemberId& id) const { return states_.count(id) > 0; }
  bool has_left(const MemberId& id) const { return states_.at(id).left; }
  const Progress& progress(const MemberId& id) const { return states_.at(id).progress; }
  // Every member has left or, after a verdict, is gone: its session closed, its process seen to
  // end, or silent.
  bool AllEnded() const;

 private:
  struct State {
    absl::Time heard;
    Progress progress;
    bool left = false;
    bool gone = false;
    std::string why;               // gone: what is known of it
    bool suspects_others = false;  // has reported a secondary cause
  };
  struct Suspicion {
    MemberId reporter;
    std::vector<MemberId> suspects;
    std::string message;
    int64_t step = 0;
    absl::Time expires;
  };

  // The member ended: for a reason of its own, unless it is a known victim. Infinite `now`: it will
  // not be replaced.
  void Lost(const MemberId& id, absl::string_view why, absl::Time now);
  // A loss that is a cause: tolerated or a verdict.
  void Judge(const MemberId& culprit, int64_t step, absl::string_view why, absl::Time now);
  // "; ..." where a loss of `id` might have been tolerated, else empty.
  std::string WhyNotTolerated(const MemberId& id) const;
  // All suspicions have found their cause in a loss that is tolerated.
  void Acquit();
  // No loss is tolerated any more, and `open`, if there is one, is a verdict. `why`, e.g. "worker 1
  // has left".
  void EndTraining(std::string why, const absl::optional<ShardReplacements::Loss>& open);
  void ConvictUnreplaced(const ShardReplacements::Loss& loss, absl::string_view why);
  void Convict(const MemberId& culprit, absl::string_view what, int64_t step,
               absl::string_view why);
  void JudgeSuspect(absl::Time now);
  void ForgiveStandstill(absl::Duration gap);
  int64_t LastStep(const MemberId& id) const;

  const absl::Duration lease_;
  absl::Time last_tick_;
  std::map<MemberId, State, MemberOrder> states_;
  std::vector<Suspicion> suspicions_;  // in order of arrival
  ShardReplacements replacements_;
  std::string training_over_;  // why nobody goes back to training; empty: all may
  absl::optional<Verdict> verdict_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_FAILURE_ARBITER_H_
