#include "experiments/model/network_setting.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(NetworkSettingTest, ReadsWhatPeopleWrite) {
  EXPECT_DOUBLE_EQ(*ParseBandwidthMbit("25gbit"), 25'000);
  EXPECT_DOUBLE_EQ(*ParseBandwidthMbit("200Mbit"), 200);
  EXPECT_DOUBLE_EQ(*ParseBandwidthMbit("500kbit"), 0.5);
  EXPECT_DOUBLE_EQ(*ParseLatencyUs("20us"), 20);
  EXPECT_DOUBLE_EQ(*ParseLatencyUs("1.5ms"), 1500);
  EXPECT_DOUBLE_EQ(*ParseLatencyUs("0.1s"), 100'000);
  EXPECT_EQ(*ParseParameterCount("25.6M"), 25'600'000);
  EXPECT_EQ(*ParseParameterCount("7b"), 7'000'000'000);
  EXPECT_EQ(*ParseParameterCount("1000"), 1000);
}

TEST(NetworkSettingTest, ReadsTheFlagOfAJob) {
  EXPECT_DOUBLE_EQ(ParseNetworkSetting("1gbit,100us")->bandwidth_mbit, 1000);
  EXPECT_DOUBLE_EQ(ParseNetworkSetting("1gbit,100us")->latency_us, 100);
  EXPECT_DOUBLE_EQ(ParseNetworkSetting("200mbit")->latency_us, 0);
  EXPECT_DOUBLE_EQ(ParseNetworkSetting("5ms")->bandwidth_mbit, 0);
  EXPECT_DOUBLE_EQ(ParseNetworkSetting("")->bandwidth_mbit, 0);
}

TEST(NetworkSettingTest, RefusesTheRest) {
  for (const char* text : {"", "fast", "25", "-1gbit", "nangbit", "gbit"}) {
    EXPECT_FALSE(ParseBandwidthMbit(text).ok()) << text;
  }
  EXPECT_FALSE(ParseLatencyUs("20").ok());
  EXPECT_FALSE(ParseNetworkSetting("1gbit,100us,3").ok());
  EXPECT_FALSE(ParseNetworkSetting("1gbit,").ok());
  for (const char* text : {"0", "-5", "1e30", "many"}) {
    EXPECT_FALSE(ParseParameterCount(text).ok()) << text;
  }
}

TEST(NetworkSettingTest, HeadersTakeTheirShare) {
  EXPECT_NEAR(PayloadBytesPerSecond(1000), 119.5e6, 0.1e6);
}

}  // namespace
}  // namespace ringside
