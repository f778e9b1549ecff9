#include "experiments/model/payload_rate.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(PayloadRateTest, HeadersTakeTheirShare) {
  EXPECT_NEAR(PayloadBytesPerSecond(1000), 119.5e6, 0.1e6);
  EXPECT_EQ(PayloadBytesPerSecond(0), 0);
}

}  // namespace
}  // namespace ringside
