// Statuses across gRPC, with the suspects that an error carries (common/suspects.h). Pure.
#ifndef RINGSIDE_COMMON_NETWORK_GRPC_STATUS_H_
#define RINGSIDE_COMMON_NETWORK_GRPC_STATUS_H_

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"

namespace ringside {

// Same code and message; suspects travel in the error details.
grpc::Status ToGrpcStatus(const absl::Status& status);
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_GRPC_STATUS_H_
