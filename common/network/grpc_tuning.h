// gRPC's settings for ports that carry gradients, each a flag, so that a report can show what every
// one of them is worth. All are gRPC's own unless set; docs/rationale.md has what was measured. A
// value, without gRPC.
#ifndef RINGSIDE_COMMON_NETWORK_GRPC_TUNING_H_
#define RINGSIDE_COMMON_NETWORK_GRPC_TUNING_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"

namespace ringside {

struct GrpcTuning {
  // Bytes; 0: gRPC's own.
  int64_t max_frame_bytes = 0;     // largest HTTP/2 frame that is accepted
  int64_t lookahead_bytes = 0;     // flow-control window of one stream
  int64_t write_buffer_bytes = 0;  // that one stream buffers before a write has to wait
  int64_t read_chunk_bytes = 0;    // that one read from the socket asks for
  bool bdp_probe = true;           // the window follows an estimate of bandwidth times delay
  bool tx_zerocopy = false;        // MSG_ZEROCOPY; for TCP

  // INVALID_ARGUMENT: names the flag, the value and what is allowed.
  absl::Status Validate() const;
  // Flag name -> value.
  std::map<std::string, std::string> Settings() const;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_GRPC_TUNING_H_
