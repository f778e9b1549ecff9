#include "common/coordinator/join.h"

#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "common/network/grpc_status.h"
#include "common/network/host_identity.h"
#include "common/suspects.h"
#include "coordinator.grpc.pb.h"

namespace ringside {
namespace {

// The coordinator's deadline comes first and names who is missing; ours only makes sure of an end.
constexpr absl::Duration kAnswerMargin = absl::Seconds(2);
constexpr absl::Duration kPauseBetweenJoins = absl::Milliseconds(100);
constexpr absl::Duration kProbeTimeout = absl::Milliseconds(500);

void SetDeadline(grpc::ClientContext* context, absl::Time deadline) {
  context->set_deadline(absl::ToChronoTime(deadline));
}

std::string OneLine(absl::string_view text) { return absl::StrReplaceAll(text, {{"\n", " "}}); }

uint64_t RandomNumber() {
  std::random_device device;
  std::mt19937_64 engine((uint64_t{device()} << 32) ^ device());
  return std::max<uint64_t>(1, engine());
}

// Why the coordinator cannot be reached, in gRPC's words: a call on a channel that is not connected
// fails with the last connection error.
std::string ConnectionError(Coordinator::Stub* stub) {
  grpc::ClientContext context;
  SetDeadline(&context, absl::Now() + kProbeTimeout);
  LeaveResponse response;
  const grpc::Status status = stub->Leave(&context, LeaveRequest(), &response);
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ? OneLine(status.error_message())
                                                              : "no answer";
}

absl::Status Unreachable(const CoordinatorClient::Config& config, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat("cannot reach the coordinator at ",
                                             ToString(config.coordinator), " within ",
                                             absl::FormatDuration(config.join_timeout), ": ", why));
}

absl::Status JoinError(const CoordinatorClient::Config& config, const grpc::Status& status) {
  const absl::Status error = FromGrpcStatus(status);
  if (absl::IsUnavailable(error)) return Unreachable(config, OneLine(error.message()));
  if (absl::IsUnimplemented(error)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "what listens at ", ToString(config.coordinator), " is not a coordinator of Ringside"));
  }
  // The coordinator's own deadline names who is missing; this one is ours.
  if (absl::IsDeadlineExceeded(error) && SuspectsOf(error).empty()) {
    return absl::DeadlineExceededError(
        absl::StrCat("the coordinator at ", ToString(config.coordinator), " did not answer within ",
                     absl::FormatDuration(config.join_timeout)));
  }
  return error;
}

void Complete(JoinRequest* request) {
  Member* member = request->mutable_member();
  if (!member->has_host()) *member->mutable_host() = ReadHostIdentity();
  if (member->pid() == 0) member->set_pid(getpid());
  if (request->incarnation() == 0) request->set_incarnation(RandomNumber());
}

}  // namespace

absl::StatusOr<Membership> JoinOverChannel(const CoordinatorClient::Config& config,
                                           const std::shared_ptr<grpc::Channel>& channel,
                                           JoinRequest request) {
  Complete(&request);
  const absl::Time deadline = absl::Now() + config.join_timeout;
  const std::unique_ptr<Coordinator::Stub> stub = Coordinator::NewStub(channel);
  while (true) {
    if (!channel->WaitForConnected(absl::ToChronoTime(deadline))) {
      return Unreachable(config, ConnectionError(stub.get()));
    }
    const absl::Duration left = deadline - absl::Now();
    request.set_timeout_ms(std::max<int64_t>(1, absl::ToInt64Milliseconds(left)));
    grpc::ClientContext context;
    SetDeadline(&context, deadline + kAnswerMargin);
    Membership membership;
    const grpc::Status status = stub->Join(&context, request, &membership);
    if (status.ok()) return membership;
    const bool again = status.error_code() == grpc::StatusCode::UNAVAILABLE;
    if (!again || absl::Now() + kPauseBetweenJoins > deadline) return JoinError(config, status);
    std::this_thread::sleep_for(absl::ToChronoMilliseconds(kPauseBetweenJoins));
  }
}

}  // namespace ringside
