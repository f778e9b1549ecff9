// Bandwidths, latencies and sizes as people write them. Pure.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_NETWORK_SETTING_H_
#define RINGSIDE_EXPERIMENTS_MODEL_NETWORK_SETTING_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

struct NetworkSetting {
  double bandwidth_mbit = 0;  // 0: not shaped
  double latency_us = 0;      // one way; 0: none added
};

// "25gbit", "200mbit", "500kbit": Mbit/s. INVALID_ARGUMENT: no such number.
absl::StatusOr<double> ParseBandwidthMbit(absl::string_view text);
// "20us", "1.5ms", "0.1s": microseconds. INVALID_ARGUMENT: no such number.
absl::StatusOr<double> ParseLatencyUs(absl::string_view text);
// --network: "1gbit,100us", "200mbit", or empty. INVALID_ARGUMENT: neither.
absl::StatusOr<NetworkSetting> ParseNetworkSetting(absl::string_view text);

// Bytes of payload per second that TCP over Ethernet frames of 1,500 bytes makes of a bandwidth:
// 1,448 of payload in 1,514 that a shaper counts.
double PayloadBytesPerSecond(double bandwidth_mbit);
// The same of bytes.
double PayloadOf(double frame_bytes);

// "25.6M", "7B", "1000000": parameters. INVALID_ARGUMENT: no such number, or below 1.
absl::StatusOr<int64_t> ParseParameterCount(absl::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_NETWORK_SETTING_H_
