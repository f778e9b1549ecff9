// Who has joined, who is missing, and who may not. A state machine: no threads, no I/O, no clock.
#ifndef RINGSIDE_COMMON_COORDINATOR_RENDEZVOUS_H_
#define RINGSIDE_COMMON_COORDINATOR_RENDEZVOUS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "common/coordinator/member_list.h"
#include "coordinator.pb.h"

namespace ringside {

// There is one slot for each role and rank. A joiner that does not fit is refused and leaves no
// trace but a remark in Progress(); the first to join of those present sets what the others must
// agree with. Once all slots are taken the rendezvous is complete and stays so.
class Rendezvous {
 public:
  struct Config {
    std::string token;
    int world_size = 0;   // 0: what the first joiner says
    int num_shards = -1;  // -1: the same
    absl::Duration lease = absl::Seconds(10);
    absl::Duration join_timeout = absl::Seconds(120);  // for joiners that give none
    absl::Duration restart_timeout;  // for replacements of lost shards; zero: none is tolerated
  };
  struct Admission {
    uint64_t session = 0;               // under which the joiner is known
    absl::optional<uint64_t> replaced;  // an earlier call of the same process, now without meaning
  };
  struct Dismissal {
    uint64_t session = 0;
    absl::Status status;
  };

  explicit Rendezvous(Config config) : config_(std::move(config)) {}

  // Takes a joiner in under `session`, a number that the caller has not used before. A process that
  // asks again (same incarnation) replaces its earlier self; after completion it gets its old
  // session. PERMISSION_DENIED: wrong token. FAILED_PRECONDITION: refused, says which rank, setting
  // or parameter is at fault and whom it contradicts.
  absl::StatusOr<Admission> Join(const JoinRequest& request, uint64_t session, absl::Time now);

  // After completion: whether this process would fit in the slot that it asks for, whoever has it.
  // Errors like Join.
  absl::Status CheckReplacement(const JoinRequest& request) const;
  // The process, which fits, takes the slot as the `recovery`-th that does so.
  void Replace(const JoinRequest& request, uint64_t session, uint32_t recovery);
  // The slot, which is taken, is this very process's. One that never asks again is always another.
  bool IsSameProcess(const JoinRequest& request) const;
  // FAILED_PRECONDITION: the slot, which is taken, is another's, who is named.
  absl::Status Taken(const MemberId& id) const;

  // The joiner went away: before completion its slot is free again.
  void Withdraw(uint64_t session);

  // Removes those whose time is over, with DEADLINE_EXCEEDED naming who is missing.
  std::vector<Dismissal> Expire(absl::Time now);

  bool complete() const { return complete_; }
  bool empty() const { return joiners_.empty(); }
  // "have worker 0, shard 0; missing worker 1"
  std::string Progress() const;
  uint32_t generation() const { return 1; }  // until memberships can change
  // Requires that the member is present.
  uint64_t SessionOf(const MemberId& id) const { return joiners_.at(id).session; }
  // Present members, workers first, by rank.
  std::vector<Member> Members() const;
  // Requires complete() and a session that takes part.
  Membership MembershipFor(uint64_t session) const;

 private:
  struct Joiner {
    uint64_t session = 0;
    JoinRequest request;
    absl::Time deadline;
  };
  struct Setting {
    std::string value;
    MemberId origin;
  };

  absl::Status CheckToken(const JoinRequest& request) const;
  absl::Status Check(const JoinRequest& request) const;
  // What the members and the coordinator have said, apart from whether the slot is free.
  absl::Status CheckAgreement(const JoinRequest& request) const;
  absl::Status CheckSizes(const JoinRequest& request) const;
  // The role and rank exist.
  static absl::Status CheckSlot(const JoinRequest& request);
  // Names all that differ, of the settings that are hashes ("..._sha256") or of the others.
  absl::Status CheckSettings(const JoinRequest& request, bool hashes) const;
  absl::Status CheckParameters(const JoinRequest& request) const;
  // Makes the joiner's word count where nobody has said anything yet.
  void Fix(const JoinRequest& request);
  void Remove(const MemberId& id);
  std::vector<MemberId> Missing() const;
  int ExpectedWorkers() const;
  int ExpectedShards() const;

  const Config config_;
  std::map<MemberId, Joiner, MemberOrder> joiners_;
  // What those present agree on, and who said it first.
  std::map<std::string, Setting> settings_;
  absl::optional<MemberId> sizes_origin_;                  // its world_size and num_shards count
  absl::optional<MemberId> parameters_origin_;             // the worker whose parameter list counts
  std::map<MemberId, std::string, MemberOrder> refusals_;  // the last one for every free slot
  bool complete_ = false;
  uint32_t recovery_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_RENDEZVOUS_H_
