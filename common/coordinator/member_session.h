// A member's end of its session with the coordinator: heartbeats out; replacements of lost shards
// and the verdict in. The part of CoordinatorClient that lives for as long as the membership.
#ifndef RINGSIDE_COMMON_COORDINATOR_MEMBER_SESSION_H_
#define RINGSIDE_COMMON_COORDINATOR_MEMBER_SESSION_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <set>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/coordinator/replacement_feed.h"
#include "common/mutex.h"
#include "common/network/endpoint.h"
#include "coordinator.grpc.pb.h"

namespace ringside {

// Thread-safe. Owns two threads, which the destructor ends.
class MemberSession {
 public:
  struct Ruling {
    absl::Status verdict;  // OK: none
    MemberId culprit;      // of the verdict; unspecified: no single member
  };

  // Opens the session. `stub` must outlive this; `coordinator` is for messages.
  MemberSession(Endpoint coordinator, MemberId self, const Membership& membership,
                Coordinator::Stub* stub);
  ~MemberSession();
  MemberSession(const MemberSession&) = delete;
  MemberSession& operator=(const MemberSession&) = delete;

  // Returns once the coordinator has seen this session: from then on it notices at once when the
  // process ends. ABORTED: there is a verdict already.
  absl::Status AwaitOpen();

  const Caller& caller() const { return caller_; }
  absl::Duration lease() const { return lease_; }
  ReplacementFeed* replacements() { return &replacements_; }
  const ReplacementFeed& replacements() const { return replacements_; }
  void ReportProgress(const Progress& progress);
  // See CoordinatorClient.
  void SetVerdictHandler(std::function<void(const absl::Status&)> handler);

  // A call that is to be cancelled by a verdict. ABORTED: there is one already,
  // FAILED_PRECONDITION: the member has left; then the call must not be made. Else EndCall must
  // follow.
  absl::Status BeginCall(grpc::ClientContext* call);
  // The verdict, or OK where there is none.
  absl::Status EndCall(grpc::ClientContext* call);

  // What there is at once.
  Ruling ruling();
  // Waits for a verdict, or for a replacement with a number above `recovery`, until `deadline`.
  Ruling Await(absl::Time deadline, uint32_t recovery);
  Ruling AwaitVerdict(absl::Time deadline);

  // FAILED_PRECONDITION: has left already. From now on a closed session is no loss.
  absl::Status StartLeaving();
  bool leaving();
  // Ends the heartbeats; returns the verdict, if there is one.
  absl::Status Stop();

 private:
  using Stream = grpc::ClientReaderWriter<Heartbeat, SessionEvent>;

  void SendHeartbeats();
  void ReadEvents();
  void HandleReplacement(const Replacement& replacement);
  // False when heartbeats are to end.
  bool AwaitNextBeat(bool first, Heartbeat* heartbeat);
  void Acknowledged();
  void CoordinatorLost(absl::string_view why);
  void Decide(const absl::Status& status, const MemberId& culprit);

  // Constant after construction.
  const Endpoint coordinator_;
  const MemberId self_;
  const absl::Duration lease_;
  Caller caller_;
  grpc::ClientContext context_;
  std::unique_ptr<Stream> stream_;
  std::thread writer_;
  std::thread reader_;
  ReplacementFeed replacements_;

  Mutex mutex_;
  CondVar changed_;
  Progress progress_ ABSL_GUARDED_BY(mutex_);
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time acknowledged_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_beat_ ABSL_GUARDED_BY(mutex_);
  Ruling ruling_ ABSL_GUARDED_BY(mutex_);
  uint32_t recovery_ ABSL_GUARDED_BY(mutex_);  // the last one heard of
  std::function<void(const absl::Status&)> handler_ ABSL_GUARDED_BY(mutex_);
  bool handler_runs_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<grpc::ClientContext*> calls_ ABSL_GUARDED_BY(mutex_);  // in progress
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;  // no more heartbeats
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_MEMBER_SESSION_H_
