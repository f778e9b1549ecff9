#include "worker/job_membership.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/time/time.h"
#include "common/logging.h"
#include "common/network/bind_address.h"
#include "common/network/host_identity.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// Time for the training thread to return after a verdict. A verdict may take most of a lease to
// come, and everybody must be gone when it is over.
absl::Duration GraceAfterVerdict(absl::Duration lease) {
  return std::max(absl::Milliseconds(200), std::min(absl::Seconds(2), lease / 5));
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobMembership>> JobMembership::Join(const WorkerConfig& config,
                                                                   JoinRequest request) {
  auto membership = absl::WrapUnique(new JobMembership(config));
  if (config.host_coordinator) RINGSIDE_RETURN_IF_ERROR(membership->StartCoordinator());
  RINGSIDE_RETURN_IF_ERROR(membership->JoinWith(std::move(request)));
  return membership;
}

absl::Status JobMembership::StartCoordinator() {
  CoordinatorServer::Config server;
  RINGSIDE_ASSIGN_OR_RETURN(server.bind,
                            ChooseCoordinatorBind(config_.network, *config_.coordinator));
  server.token = config_.token;
  server.world_size = config_.job.worker_processes();
  server.num_shards = config_.job.shards();
  server.lease = config_.job.lease;
  server.join_timeout = config_.job.join_timeout;
  server.restart_shards = config_.job.restart_shards;
  server.announce = [](const std::string& line) { LogInfo(line); };
  auto started = CoordinatorServer::Start(std::move(server));
  // A port that the user named and that is taken is a wrong flag, not a broken network.
  if (absl::IsUnavailable(started.status()))
    return absl::FailedPreconditionError(started.status().message());
  RINGSIDE_RETURN_IF_ERROR(started.status());
  server_ = std::move(*started);
  return absl::OkStatus();
}

absl::Status JobMembership::JoinWith(JoinRequest request) {
  *request.mutable_member()->mutable_id() = WorkerId(config_.rank);
  *request.mutable_member()->mutable_host() = ReadHostIdentity();
  request.mutable_member()->set_pid(getpid());
  request.set_token(config_.token);
  request.set_world_size(config_.job.worker_processes());
  request.set_num_shards(config_.job.shards());
  request.set_timeout_ms(absl::ToInt64Milliseconds(config_.job.join_timeout));
  auto client = CoordinatorClient::Join({*config_.coordinator, config_.job.join_timeout}, request);
  if (!client.ok()) {
    // Others may have been refused for the same reason: let them hear it before the coordinator
    // goes.
    if (server_ != nullptr) server_->AwaitEnd(absl::Seconds(1));
    return client.status();
  }
  client_ = std::move(*client);
  watch_ = std::make_unique<VerdictWatch>(GraceAfterVerdict(config_.job.lease),
                                          [this](const absl::Status& verdict) { EndNow(verdict); });
  client_->SetVerdictHandler(
      [watch = watch_.get()](const absl::Status& verdict) { watch->Deliver(verdict); });
  return absl::OkStatus();
}

absl::Status JobMembership::Leave(absl::Status status, int64_t step) {
  status = status.ok() ? client_->Leave() : client_->ResolveFailure(status, step);
  client_.reset();
  watch_.reset();
  if (server_ != nullptr) server_->AwaitEnd(config_.job.lease);
  return status;
}

void JobMembership::EndNow(const absl::Status& verdict) {
  const int exit_status = ExitStatus(verdict);
  // Destructors would wait for the thread that does not return. The others must still hear the
  // verdict from here.
  if (server_ != nullptr) server_->AwaitEnd(GraceAfterVerdict(config_.job.lease));
  std::_Exit(exit_status);
}

}  // namespace ringside
