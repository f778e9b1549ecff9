#include "common/config/network_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

NetworkSpec Parsed(const std::string& text) {
  const absl::StatusOr<NetworkSpec> spec = ParseNetworkSpec(text);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.value_or(NetworkSpec{});
}

std::string ErrorOf(const std::string& text) {
  const absl::Status status = ParseNetworkSpec(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(status.message());
}

TEST(NetworkSpecTest, ReadsBandwidthAndLatencyInAnyUnitAndOrder) {
  EXPECT_TRUE(Parsed("").empty());
  EXPECT_EQ(Parsed("1gbit,100us").bandwidth_mbit, 1000);
  EXPECT_EQ(Parsed("1gbit,100us").latency_us, 100);
  EXPECT_EQ(Parsed("200mbit").bandwidth_mbit, 200);
  EXPECT_EQ(Parsed("200mbit").latency_us, 0);
  EXPECT_EQ(Parsed("2.5ms,0.5Gbit").bandwidth_mbit, 500);
  EXPECT_EQ(Parsed("2.5ms,0.5Gbit").latency_us, 2500);
  EXPECT_EQ(Parsed("500kbit").bandwidth_mbit, 0.5);
  EXPECT_EQ(Parsed("1s").latency_us, 1e6);
  EXPECT_FALSE(Parsed("1s").empty());
}

TEST(NetworkSpecTest, TheSameNetworkHasOneText) {
  for (const char* text : {"1gbit,100us", "1000mbit,0.1ms", "100us,1gbit", "1.0GBIT,100.0us"})
    EXPECT_EQ(ToString(Parsed(text)), "1gbit,100us") << text;
  EXPECT_EQ(ToString(Parsed("")), "");
  EXPECT_EQ(ToString(Parsed("1500mbit")), "1.5gbit");
  EXPECT_EQ(ToString(Parsed("0.25mbit")), "250kbit");
  EXPECT_EQ(ToString(Parsed("2500us")), "2.5ms");
  EXPECT_EQ(ToString(Parsed("1000ms")), "1s");
  EXPECT_EQ(ToString(Parsed("33.3mbit,7us")), "33.3mbit,7us");
}

TEST(NetworkSpecTest, ItsTextIsReadBackAsTheSame) {
  for (const char* text : {"0.1234567mbit", "333.3333mbit,3.7us", "99gbit", "12.3456ms"}) {
    const NetworkSpec spec = Parsed(text);
    const NetworkSpec again = Parsed(ToString(spec));
    EXPECT_EQ(again.bandwidth_mbit, spec.bandwidth_mbit) << text;
    EXPECT_EQ(again.latency_us, spec.latency_us) << text;
  }
}

TEST(NetworkSpecTest, ErrorsNameTheFlagThePartAndWhatIsRight) {
  const auto is_no_part = [](const std::string& text, const std::string& part) {
    EXPECT_THAT(ErrorOf(text),
                AllOf(HasSubstr("--network=" + text + ": \"" + part +
                                "\" must be a bandwidth in "
                                "kbit, mbit or gbit, or a latency one way in us, ms or s"),
                      HasSubstr("e.g. --network=1gbit,100us")));
  };
  is_no_part("fast", "fast");
  is_no_part("1gbit,", "");
  is_no_part(",100us", "");
  is_no_part("1gbit,100", "100");
  is_no_part("1 gbit", "1 gbit");
  is_no_part("-1gbit", "-1gbit");
  is_no_part("1.2.3gbit", "1.2.3gbit");
  is_no_part("gbit", "gbit");
  is_no_part("1gb", "1gb");
  EXPECT_EQ(ErrorOf("1gbit,2gbit"),
            "--network=1gbit,2gbit: \"2gbit\" is a second bandwidth; there may be one of each");
  EXPECT_EQ(ErrorOf("1us,2us"),
            "--network=1us,2us: \"2us\" is a second latency; there may be one of each");
  EXPECT_EQ(ErrorOf("0mbit"),
            "--network=0mbit: \"0mbit\" must be at least 100kbit and at most "
            "100gbit");
  EXPECT_THAT(ErrorOf("1000gbit"), HasSubstr("at most 100gbit"));
  EXPECT_EQ(ErrorOf("1gbit,2s"), "--network=1gbit,2s: \"2s\" must be at least 1us and at most 1s");
}

}  // namespace
}  // namespace ringside
