// The coordinator as a gRPC service: the one implementation of CoordinatorServer.
//
// Thread-safe. Life cycle, clock and what events entail are in coordinator_server.cc, the calls
// that members make in coordinator_service.cc.
#ifndef RINGSIDE_COMMON_COORDINATOR_COORDINATOR_SERVICE_H_
#define RINGSIDE_COMMON_COORDINATOR_COORDINATOR_SERVICE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "common/coordinator/coordinator_server.h"
#include "common/coordinator/job.h"
#include "common/coordinator/session_reactor.h"
#include "common/mutex.h"
#include "common/network/grpc_server.h"
#include "coordinator.grpc.pb.h"

namespace ringside {

inline absl::Status CoordinatorEnded() {
  return absl::UnavailableError("the coordinator has ended");
}

class CoordinatorService final : public CoordinatorServer,
                                 private Coordinator::CallbackService,
                                 private SessionReactor::Owner {
 public:
  explicit CoordinatorService(Config config);
  ~CoordinatorService() override;
  absl::Status Start();

  const Endpoint& endpoint() const override { return grpc_.endpoint; }
  std::vector<MemberState> Members() const override;
  absl::optional<Verdict> verdict() const override;
  void ReportExit(const MemberId& member, const std::string& how) override;
  void ReportRestart(const MemberId& member, const std::string& how) override;
  bool AwaitEnd(absl::Duration timeout) override;

 private:
  using Context = grpc::CallbackServerContext;
  using JoinFinisher = std::function<void(const absl::StatusOr<Membership>&)>;
  using MeetingFinisher = std::function<void(const MeetingAnswer&)>;
  // What is to be done once the lock is released.
  using Deliveries = std::vector<std::function<void()>>;

  grpc::ServerUnaryReactor* Join(Context* context, const JoinRequest* request,
                                 Membership* response) override;
  grpc::ServerBidiReactor<Heartbeat, SessionEvent>* Session(Context* context) override;
  grpc::ServerUnaryReactor* Barrier(Context* context, const BarrierRequest* request,
                                    BarrierResponse* response) override;
  grpc::ServerUnaryReactor* Reduce(Context* context, const ReduceRequest* request,
                                   ReduceResponse* response) override;
  grpc::ServerUnaryReactor* Gather(Context* context, const GatherRequest* request,
                                   GatherResponse* response) override;
  grpc::ServerUnaryReactor* ReportFailure(Context* context, const FailureReport* request,
                                          FailureReportResponse* response) override;
  grpc::ServerUnaryReactor* Clock(Context* context, const ClockRequest* request,
                                  ClockResponse* response) override;
  grpc::ServerUnaryReactor* Leave(Context* context, const LeaveRequest* request,
                                  LeaveResponse* response) override;

  absl::Status OnHeartbeat(const std::shared_ptr<SessionReactor>& reactor,
                           const Heartbeat& heartbeat, bool first) override;
  void OnSessionEnd(uint64_t session) override;

  // Gives the job an event, under the lock, and then does what it entails. Does nothing once the
  // server is being destroyed.
  void Drive(const std::function<void(Job::Effects*)>& event);
  void Collect(Job::Effects effects, Deliveries* deliveries) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CollectEvents(const Job::Effects& effects, Deliveries* deliveries)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remark(std::string line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Parks a meeting call until the job answers it. `fill` writes the response of a good answer.
  grpc::ServerUnaryReactor* Meet(const Caller& caller, int64_t timeout_ms,
                                 Contribution contribution, MeetingFinisher fill);
  void JoinCancelled(uint64_t session);
  void MeetingCancelled(uint64_t id);
  void TickUntilStopped();
  // Says what is to be said, in the ticker's thread alone.
  void Announce(absl::Time now);
  std::vector<std::string> TakeAnnouncements(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Constant after Start.
  const Config config_;
  const std::string boot_id_;  // of this machine
  GrpcServer grpc_;
  std::thread ticker_;

  mutable Mutex mutex_;
  CondVar changed_;
  CondVar ticker_due_;  // before its next tick: there is a remark, or it is to stop
  Job job_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, JoinFinisher> joins_ ABSL_GUARDED_BY(mutex_);        // by session
  std::map<uint64_t, MeetingFinisher> meetings_ ABSL_GUARDED_BY(mutex_);  // by number of the call
  std::map<uint64_t, std::shared_ptr<SessionReactor>> sessions_ ABSL_GUARDED_BY(mutex_);
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_call_ ABSL_GUARDED_BY(mutex_) = 1;
  std::vector<std::string> remarks_ ABSL_GUARDED_BY(mutex_);  // not yet announced
  bool announcing_ ABSL_GUARDED_BY(mutex_) = false;           // what was taken from there
  absl::Time next_announcement_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_COORDINATOR_SERVICE_H_
