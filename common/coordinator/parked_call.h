// A unary gRPC call that is answered later.
#ifndef RINGSIDE_COMMON_COORDINATOR_PARKED_CALL_H_
#define RINGSIDE_COMMON_COORDINATOR_PARKED_CALL_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <utility>

namespace ringside {

// Owns itself: gone once it was finished and gRPC is done with it. Must be finished exactly once,
// also when `on_cancel` says that the caller went away.
class ParkedCall final : public grpc::ServerUnaryReactor {
 public:
  explicit ParkedCall(std::function<void()> on_cancel) : on_cancel_(std::move(on_cancel)) {}

 private:
  void OnCancel() override { on_cancel_(); }
  void OnDone() override { delete this; }

  const std::function<void()> on_cancel_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_PARKED_CALL_H_
