#include "experiments/model/payload_rate.h"

namespace ringside {

double PayloadBytesPerSecond(double bandwidth_mbit) {
  return bandwidth_mbit * 1e6 / 8 * 1448 / 1514;
}

}  // namespace ringside
