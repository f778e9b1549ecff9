// A process's place in the job: joins, keeps its lease alive, meets the others, learns the verdict.
//
// Thread-safe. Owns two threads (heartbeats out, events in) and a channel; the destructor ends
// them. A client that is destroyed without Leave counts as lost.
#ifndef RINGSIDE_COMMON_COORDINATOR_COORDINATOR_CLIENT_H_
#define RINGSIDE_COMMON_COORDINATOR_COORDINATOR_CLIENT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/network/endpoint.h"
#include "coordinator.pb.h"
#include "trace.pb.h"

namespace ringside {

class CoordinatorClient {
 public:
  struct Config {
    Endpoint coordinator;
    // For reaching the coordinator, which may start later, and for all others to join.
    absl::Duration join_timeout = absl::Seconds(120);
  };
  struct Sums {
    std::vector<int64_t> integers;
    std::vector<double> doubles;
  };

  // Blocks until all members have joined. Fills in the member's host and process id where `request`
  // has none. UNAVAILABLE: the coordinator cannot be reached in time (names its address);
  // FAILED_PRECONDITION: refused, with the rank, setting or parameter at fault; PERMISSION_DENIED:
  // wrong token; DEADLINE_EXCEEDED: names who is missing; ABORTED: the job has a verdict.
  static absl::StatusOr<std::unique_ptr<CoordinatorClient>> Join(const Config& config,
                                                                 JoinRequest request);
  virtual ~CoordinatorClient() = default;

  // Who takes part and what was agreed on, as of the join. Constant. `recovery` is 0 but for who
  // joined in a lost shard's place.
  virtual const Membership& membership() const = 0;
  // The same with the shards that were replaced since, and the number of the last replacement.
  virtual Membership current_membership() const = 0;

  // `members` must be the same list on all callers. Each name is used once. DEADLINE_EXCEEDED:
  // names who is missing, with suspects; FAILED_PRECONDITION: the callers disagree on members or
  // lengths, or one of them has left; ABORTED: the job has a verdict, which is the message (the
  // culprit is attached as suspect). Calls after a verdict return it. ABORTED without a verdict,
  // only where the name begins with "recovery-": a shard that takes part (attached as suspect) was
  // lost; its replacement or a verdict follows.
  virtual absl::Status Barrier(const std::string& name, const std::vector<MemberId>& members,
                               absl::Duration timeout) = 0;
  virtual absl::StatusOr<Sums> Reduce(const std::string& name, const std::vector<MemberId>& members,
                                      Sums own, absl::Duration timeout) = 0;
  // members[0] gets all blobs in the order of `members`, the others an empty vector.
  virtual absl::StatusOr<std::vector<std::string>> Gather(const std::string& name,
                                                          const std::vector<MemberId>& members,
                                                          std::string own,
                                                          absl::Duration timeout) = 0;
  // All get all blobs in the order of `members`.
  virtual absl::StatusOr<std::vector<std::string>> GatherForAll(
      const std::string& name, const std::vector<MemberId>& members, std::string own,
      absl::Duration timeout) = 0;

  // How this process's monotonic clock stands to the coordinator's, by so many round trips one
  // after the other (at least 1). Errors: the verdict, or no answer.
  virtual absl::StatusOr<ClockReading> ReadClock(int round_trips) = 0;

  // Goes out with the next heartbeat. Never blocks; cheap enough for every step.
  virtual void ReportProgress(const Progress& progress) = 0;

  // `handler` is called once, from a thread of the client, with an ABORTED status as soon as there
  // is a verdict or the coordinator is lost; at once, from the caller's, if that has happened
  // already. It must not call back into the client. Replaces an earlier handler, which on return
  // neither runs nor will be called: nullptr before what it refers to is destroyed.
  virtual void SetVerdictHandler(std::function<void(const absl::Status&)> handler) = 0;

  // `handler` is called for every shard that was lost and has a new process in its place, in the
  // order of their numbers and one call at a time, from a thread of the client; at once, from the
  // caller's, for those that have come already and that no handler has got. It may ask for
  // current_membership() and must not call back into the client otherwise, nor block. Replaces an
  // earlier handler like SetVerdictHandler. A replacement is itself not told of its own coming
  // (membership().recovery() says it).
  virtual void SetReplacementHandler(std::function<void(const Replacement&)> handler) = 0;

  // Tells the coordinator of a local failure (suspects attached with WithSuspects, none: this
  // process is the cause) and waits up to one lease for the verdict. Returns what to end with: the
  // verdict if one comes, else `failure`; also `failure` itself, with its own code, where it is
  // this process's own and the verdict says so.
  virtual absl::Status ResolveFailure(const absl::Status& failure, int64_t step) = 0;

  // The same for a process that can go on without a lost shard's state. `failure` (not OK) came
  // about when `recovery` was the last replacement that this process had made good. Returns the
  // number of a later replacement as soon as there is one, at once where there is already; else
  // what to end with, as ResolveFailure. Waits up to one lease, or, where losses are tolerated,
  // that and the time that a replacement may take.
  virtual absl::StatusOr<uint32_t> AwaitRecovery(const absl::Status& failure, int64_t step,
                                                 uint32_t recovery) = 0;

  // Ends the membership in good order. Later calls fail.
  virtual absl::Status Leave() = 0;
};

// All workers, all shards, and both (workers first) of a membership, in rank order.
std::vector<MemberId> WorkersOf(const Membership& membership);
std::vector<MemberId> ShardsOf(const Membership& membership);
std::vector<MemberId> EveryoneOf(const Membership& membership);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_COORDINATOR_CLIENT_H_
