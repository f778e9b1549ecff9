#include "experiments/model/payload_rate.h"

namespace ringside {

double PayloadOf(double frame_bytes) { return frame_bytes * 1448 / 1514; }

double PayloadBytesPerSecond(double bandwidth_mbit) { return PayloadOf(bandwidth_mbit * 1e6 / 8); }

}  // namespace ringside
