#include "common/network/grpc_status.h"

#include <string>
#include <vector>

#include "common/suspects.h"

namespace ringside {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  FailureReport report;
  for (const MemberId& id : SuspectsOf(status)) *report.add_suspects() = id;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()),
                      report.SerializeAsString());
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const absl::Status plain(static_cast<absl::StatusCode>(status.error_code()),
                           status.error_message());
  FailureReport report;
  if (!report.ParseFromString(status.error_details()) || report.suspects().empty()) return plain;
  return WithSuspects(plain, {report.suspects().begin(), report.suspects().end()});
}

}  // namespace ringside
