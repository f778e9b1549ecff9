// The coordinator's end of one member's session: heartbeats in; acknowledgements,
// replacements of lost shards and a verdict out.
#ifndef RINGSIDE_COMMON_COORDINATOR_SESSION_REACTOR_H_
#define RINGSIDE_COMMON_COORDINATOR_SESSION_REACTOR_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "common/mutex.h"
#include "coordinator.grpc.pb.h"

namespace ringside {

// Keeps itself alive until the stream is done. Tell and Close are thread-safe and may come at any
// time, also when the stream is gone already.
class SessionReactor final : public grpc::ServerBidiReactor<Heartbeat, SessionEvent> {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // The first heartbeat opens the session. An error ends the stream.
    virtual absl::Status OnHeartbeat(const std::shared_ptr<SessionReactor>& reactor,
                                     const Heartbeat& heartbeat, bool first) = 0;
    // The stream of a session that was opened is over.
    virtual void OnSessionEnd(uint64_t session) = 0;
  };

  // `owner` must outlive the stream.
  static SessionReactor* Start(Owner* owner);

  void Tell(const Verdict& verdict);
  // Goes out, in the order of these calls, with the next Flush or whatever else is sent. Only
  // stores it: may be called under a lock that settles the order.
  void Queue(const Replacement& replacement);
  void Flush() { Pump(); }
  // Ends the stream with `status`, after what is still to be told.
  void Close(const absl::Status& status);

 private:
  explicit SessionReactor(Owner* owner) : owner_(owner) {}

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override;
  // Starts what is due: one write at a time, and the end when nothing is left to write.
  void Pump();

  Owner* const owner_;

  // Used in read reactions alone, which never overlap.
  std::shared_ptr<SessionReactor> self_;
  Heartbeat heartbeat_;
  uint64_t session_ = 0;  // 0 until the first heartbeat was accepted

  Mutex mutex_;
  SessionEvent outgoing_;  // belongs to gRPC while writing_
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ack_due_ ABSL_GUARDED_BY(mutex_) = false;
  absl::optional<Verdict> verdict_due_ ABSL_GUARDED_BY(mutex_);
  std::deque<Replacement> replacements_due_ ABSL_GUARDED_BY(mutex_);
  absl::optional<grpc::Status> end_due_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_SESSION_REACTOR_H_
