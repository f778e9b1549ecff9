// Reaches the coordinator and joins the job: the first step of CoordinatorClient::Join.
#ifndef RINGSIDE_COMMON_COORDINATOR_JOIN_H_
#define RINGSIDE_COMMON_COORDINATOR_JOIN_H_

#include <grpcpp/grpcpp.h>

#include <memory>

#include "absl/status/statusor.h"
#include "common/coordinator/coordinator_client.h"
#include "coordinator.pb.h"

namespace ringside {

// Blocks until all members have joined, at most config.join_timeout. A coordinator that is not
// there yet, or that goes away meanwhile, is tried again until then. Fills in the member's host,
// process id and incarnation where `request` has none. Errors are those of CoordinatorClient::Join.
absl::StatusOr<Membership> JoinOverChannel(const CoordinatorClient::Config& config,
                                           const std::shared_ptr<grpc::Channel>& channel,
                                           JoinRequest request);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_JOIN_H_
