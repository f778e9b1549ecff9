// What of a link's bandwidth is left for payload. Pure.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_PAYLOAD_RATE_H_
#define RINGSIDE_EXPERIMENTS_MODEL_PAYLOAD_RATE_H_

namespace ringside {

// Bytes of payload per second that TCP over Ethernet frames of 1,500 bytes makes of a bandwidth:
// 1,448 of payload in 1,514 that a shaper counts.
double PayloadBytesPerSecond(double bandwidth_mbit);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_PAYLOAD_RATE_H_
