#include "experiments/report/setting_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SettingAxisTest, OfANetworkByWhatVaries) {
  std::vector<SettingAxis> axes = AxesOf("network", {"1gbit,100us", "200mbit,100us"});
  ASSERT_THAT(axes, SizeIs(1));
  EXPECT_EQ(axes[0].Unit(), "Mbit/s");
  EXPECT_EQ(axes[0].FileName(), "network");
  EXPECT_EQ(axes[0].Title(), "network bandwidth");
  EXPECT_EQ(axes[0].Read("200mbit,100us"), 200);
  EXPECT_EQ(axes[0].Rest("200mbit,100us"), "100us");
  EXPECT_EQ(axes[0].Text(200), "200 Mbit/s");
  axes = AxesOf("network", {"1gbit", "1gbit,100us"});
  ASSERT_THAT(axes, SizeIs(1));
  EXPECT_EQ(axes[0].Unit(), "us");
  EXPECT_EQ(axes[0].Read("1gbit"), 0);
  EXPECT_EQ(axes[0].Rest("1gbit,100us"), "1gbit");
  EXPECT_EQ(axes[0].Text(100), "100 µs");
  axes = AxesOf("network", {"1gbit,1ms", "2gbit,100us"});
  ASSERT_THAT(axes, SizeIs(2));
  EXPECT_EQ(axes[0].FileName(), "network_bandwidth");
  EXPECT_EQ(axes[1].FileName(), "network_latency");
}

TEST(SettingAxisTest, ReadsNetworksHoweverTheyAreTold) {
  const SettingAxis bandwidth("network", SettingAxis::Quantity::kBandwidth);
  const SettingAxis latency("network", SettingAxis::Quantity::kLatency);
  EXPECT_EQ(bandwidth.Read("2.5ms,512kbit"), 0.512);
  EXPECT_EQ(latency.Read("2.5ms,512kbit"), 2500);
  EXPECT_EQ(bandwidth.Rest("2500us,512kbit"), "2.5ms");
  // More than can be emulated is a place, too.
  EXPECT_EQ(bandwidth.Read("400gbit"), 400'000);
  EXPECT_FALSE(bandwidth.Read("100us").has_value());
  for (const char* text : {"", ",", "fast", "1gbit,2gbit", "100us,1ms", "-1gbit", "1gbit,x"}) {
    EXPECT_FALSE(bandwidth.Read(text).has_value()) << text;
    EXPECT_FALSE(latency.Read(text).has_value()) << text;
    EXPECT_EQ(latency.Rest(text), "") << text;
  }
}

TEST(SettingAxisTest, ANetworkThatIsNotShapedHasNoPlace) {
  const std::vector<SettingAxis> axes = AxesOf("network", {"", "1gbit", "2gbit"});
  ASSERT_THAT(axes, SizeIs(1));
  EXPECT_FALSE(axes[0].Read("").has_value());
  EXPECT_THAT(AxesOf("network", {"", "1gbit"}), IsEmpty());
}

TEST(SettingAxisTest, OfNumbersAndOfWords) {
  const std::vector<SettingAxis> bytes = AxesOf("bucket_bytes", {"1048576", "4194304"});
  ASSERT_THAT(bytes, SizeIs(1));
  EXPECT_EQ(bytes[0].Unit(), "bytes");
  EXPECT_EQ(bytes[0].Text(4194304), "4.00 MiB");
  EXPECT_EQ(AxesOf("ps_shards", {"1", "2"})[0].Text(2), "2 shards");
  EXPECT_THAT(AxesOf("wire_dtype", {"fp32", "bf16"}), IsEmpty());
  EXPECT_THAT(AxesOf("ps_shards", {"2", "2"}), IsEmpty());
  EXPECT_EQ(WorkersAxis().Text(3), "3 workers");
}

TEST(SettingAxisTest, SortsNumbersBeforeWords) {
  EXPECT_THAT(SortingNumbers("network", "1gbit,100us"), ElementsAre(1000, 100));
  EXPECT_LT(SortingNumbers("network", "200mbit"), SortingNumbers("network", "1gbit"));
  EXPECT_LT(SortingNumbers("network", "1gbit"), SortingNumbers("network", ""));
  EXPECT_LT(SortingNumbers("threads", "9"), SortingNumbers("threads", "10"));
}

}  // namespace
}  // namespace ringside
