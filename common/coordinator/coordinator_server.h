// Hosts the coordinator in this process: in the launcher, in `ringside coordinator`, or in the
// worker of rank 0.
//
// Thread-safe. The rules are in pure state machines (rendezvous, meeting, failure arbiter); this
// class adds gRPC, a clock and one thread that lets time pass for them.
#ifndef RINGSIDE_COMMON_COORDINATOR_COORDINATOR_SERVER_H_
#define RINGSIDE_COMMON_COORDINATOR_COORDINATOR_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "common/network/bind_address.h"
#include "coordinator.pb.h"

namespace ringside {

class CoordinatorServer {
 public:
  struct Config {
    BindAddress bind;
    std::string token;    // members must present the same one; may be empty
    int world_size = 0;   // 0: what the first member to join says
    int num_shards = -1;  // -1: the same
    // A silent member is lost, and all know it, within this time.
    absl::Duration lease = absl::Seconds(10);
    absl::Duration join_timeout = absl::Seconds(120);  // for members that do not bring their own
    // How many losses of shards, of all together, are no verdict: another process may join in the
    // lost one's place. A replacement that has not joined within the timeout is a verdict.
    int restart_shards = 0;
    absl::Duration restart_timeout;  // from the loss on; zero: join_timeout
    // Gets a line every interval while members are missing ("have worker 0; missing worker 1"), and
    // one for each refusal, each loss that is tolerated and each replacement. Called from the
    // coordinator's own thread, for the last time before AwaitEnd returns true or, without that,
    // before the server is gone; may be empty.
    absl::Duration announce_interval = absl::Seconds(3);
    std::function<void(const std::string&)> announce;
  };
  struct MemberState {
    Member member;
    Progress progress;
    bool left = false;
    bool awaits_replacement = false;  // a lost shard; `member` is the lost process
  };

  // UNAVAILABLE: no port of the range is free. INVALID_ARGUMENT: the lease is not positive, or
  // restarts are negative.
  static absl::StatusOr<std::unique_ptr<CoordinatorServer>> Start(Config config);
  // Ends all calls; members that have not left take the coordinator for lost. Takes a second at
  // most, and what Config::announce takes.
  virtual ~CoordinatorServer() = default;

  virtual const Endpoint& endpoint() const = 0;
  // Workers by rank, then shards; empty until all have joined.
  virtual std::vector<MemberState> Members() const = 0;
  virtual absl::optional<Verdict> verdict() const = 0;
  // Somebody who watches the process saw it end: a primary cause, like a broken session. Ignored
  // for members that left. Before all have joined it ends the wait of those who have.
  // It will not be started again, so it is a verdict also where a replacement is awaited.
  virtual void ReportExit(const MemberId& member, const std::string& how) = 0;
  // The same, but whoever watches starts the process again, which will join: no verdict where the
  // loss is tolerated. May be called for a loss that is known already.
  virtual void ReportRestart(const MemberId& member, const std::string& how) = 0;
  // Returns true once every member has left or, after a verdict, has left or is gone, and all that
  // was remarked has been announced; false when the time is over.
  virtual bool AwaitEnd(absl::Duration timeout) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_COORDINATOR_SERVER_H_
