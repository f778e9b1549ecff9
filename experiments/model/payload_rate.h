// What of a link's bandwidth is left for payload. Pure.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_PAYLOAD_RATE_H_
#define RINGSIDE_EXPERIMENTS_MODEL_PAYLOAD_RATE_H_

namespace ringside {

// Of TCP over Ethernet frames of 1,500 bytes: 1,448 of payload in 1,514 that a shaper counts.
double PayloadOf(double frame_bytes);
// Bytes of payload per second that a bandwidth carries.
double PayloadBytesPerSecond(double bandwidth_mbit);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_PAYLOAD_RATE_H_
