#include "common/network/grpc_tuning.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// What HTTP/2 allows (RFC 9113, 6.5.2 and 6.9.1), and what gRPC 1.51 takes.
constexpr int64_t kLeastFrame = 16384;
constexpr int64_t kMostFrame = 16777215;
constexpr int64_t kMostWindow = 2147483647;
constexpr int64_t kMostReadChunk = 32 << 20;

absl::Status RequireOwnOrBetween(absl::string_view flag, int64_t value, int64_t least,
                                 int64_t most) {
  if (value == 0 || (value >= least && value <= most)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--", flag, "=", value, ": must be 0 (gRPC's own) or from ", least, " to ", most));
}

std::string OnOff(bool value) { return value ? "on" : "off"; }

}  // namespace

absl::Status GrpcTuning::Validate() const {
  RINGSIDE_RETURN_IF_ERROR(
      RequireOwnOrBetween("grpc_max_frame_bytes", max_frame_bytes, kLeastFrame, kMostFrame));
  RINGSIDE_RETURN_IF_ERROR(
      RequireOwnOrBetween("grpc_lookahead_bytes", lookahead_bytes, kLeastFrame, kMostWindow));
  RINGSIDE_RETURN_IF_ERROR(
      RequireOwnOrBetween("grpc_write_buffer_bytes", write_buffer_bytes, 1, kMostWindow));
  return RequireOwnOrBetween("grpc_read_chunk_bytes", read_chunk_bytes, 256, kMostReadChunk);
}

std::map<std::string, std::string> GrpcTuning::Settings() const {
  return {
      {"grpc_max_frame_bytes", absl::StrCat(max_frame_bytes)},
      {"grpc_lookahead_bytes", absl::StrCat(lookahead_bytes)},
      {"grpc_write_buffer_bytes", absl::StrCat(write_buffer_bytes)},
      {"grpc_read_chunk_bytes", absl::StrCat(read_chunk_bytes)},
      {"grpc_bdp_probe", OnOff(bdp_probe)},
      {"grpc_tx_zerocopy", OnOff(tx_zerocopy)},
  };
}

}  // namespace ringside
