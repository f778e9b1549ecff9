#include "common/config/network_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

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
  EXPECT_EQ(Parsed(" 1gbit, 100us").latency_us, 100);
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
  for (const char* text : {"0.1234567mbit", "333.3333mbit,3.7us", "99gbit", "12.3456ms",
                           "0.0012345kbit", "999999.125gbit"}) {
    const NetworkSpec spec = Parsed(text);
    const NetworkSpec again = Parsed(ToString(spec));
    EXPECT_EQ(again.bandwidth_mbit, spec.bandwidth_mbit) << text;
    EXPECT_EQ(again.latency_us, spec.latency_us) << text;
  }
}

TEST(NetworkSpecTest, ReadsMoreThanCanBeEmulated) {
  EXPECT_EQ(Parsed("400gbit,0.5us").bandwidth_mbit, 400'000);
  EXPECT_EQ(Parsed("400gbit,0.5us").latency_us, 0.5);
  EXPECT_EQ(Parsed("1kbit,20s").bandwidth_mbit, 1e-3);
  for (const char* text : {"400gbit,0.5us", "1kbit,20s", "0.001kbit,0.001us", "1000000gbit,1000s"})
    EXPECT_EQ(ToString(Parsed(text)), text);
}

TEST(NetworkSpecTest, ErrorsNameTheFlagThePartAndWhatIsRight) {
  const auto is_no_part = [](const std::string& text, const std::string& part) {
    EXPECT_EQ(ErrorOf(text), "--network=" + text + ": \"" + part +
                                 "\" must be a bandwidth in kbit, mbit or gbit, or a latency one "
                                 "way in us, ms or s, e.g. --network=1gbit,100us");
  };
  is_no_part("fast", "fast");
  is_no_part("1gbit,", "");
  is_no_part(",100us", "");
  is_no_part("1gbit,100", "100");
  is_no_part("1 gbit", "1 gbit");
  is_no_part("-1gbit", "-1gbit");
  is_no_part("1.2.3gbit", "1.2.3gbit");
  is_no_part(".gbit", ".gbit");
  is_no_part("gbit", "gbit");
  is_no_part("1gb", "1gb");
  is_no_part("infmbit", "infmbit");
  is_no_part("nanus", "nanus");
  is_no_part("1e3mbit", "1e3mbit");
  EXPECT_EQ(ErrorOf("1gbit,2gbit"),
            "--network=1gbit,2gbit: \"2gbit\" is a second bandwidth; there may be one of each, "
            "e.g. --network=1gbit,100us");
  EXPECT_EQ(ErrorOf("1us,2us"),
            "--network=1us,2us: \"2us\" is a second latency; there may be one of each, e.g. "
            "--network=1gbit,100us");
  EXPECT_EQ(ErrorOf("0mbit,1ms"),
            "--network=0mbit,1ms: \"0mbit\" must be at least 0.001kbit and at most 1000000gbit, or "
            "be left out, e.g. --network=1gbit,100us");
  EXPECT_EQ(ErrorOf("1gbit,0us"),
            "--network=1gbit,0us: \"0us\" must be at least 0.001us and at most 1000s, or be left "
            "out, e.g. --network=1gbit,100us");
  EXPECT_THAT(ErrorOf("1000001gbit"), HasSubstr("at most 1000000gbit"));
  EXPECT_THAT(ErrorOf(std::string(400, '9') + "s"), HasSubstr("at most 1000s"));
}

TEST(CheckEmulableTest, WhatOneMachineKeepsUpWith) {
  for (const char* text : {"", "100kbit", "100gbit", "1us", "1s", "1gbit,100us"})
    EXPECT_TRUE(CheckEmulable(Parsed(text)).ok()) << text;
  const auto error = [](const std::string& text) {
    const absl::Status status = CheckEmulable(Parsed(text));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    return std::string(status.message());
  };
  EXPECT_EQ(error("400gbit,1us"),
            "--network=400gbit,1us: the bandwidth of an emulated network must be at least 100kbit "
            "and at most 100gbit, e.g. --network=1gbit,100us");
  EXPECT_EQ(error("1gbit,2s"),
            "--network=1gbit,2s: the latency of an emulated network must be at least 1us and at "
            "most 1s, e.g. --network=1gbit,100us");
  EXPECT_THAT(error("99kbit"), HasSubstr("--network=99kbit: the bandwidth"));
  EXPECT_THAT(error("0.5us"), HasSubstr("--network=0.5us: the latency"));
}

TEST(ParseBandwidthTest, OfAFlagOfItsOwn) {
  EXPECT_DOUBLE_EQ(*ParseBandwidthMbit("bandwidth", "25gbit"), 25'000);
  EXPECT_DOUBLE_EQ(*ParseBandwidthMbit("bandwidth", "200Mbit"), 200);
  EXPECT_DOUBLE_EQ(*ParseBandwidthMbit("bandwidth", "500kbit"), 0.5);
  for (const char* text : {"", "fast", "25", "0gbit", "-1gbit", "nangbit", "gbit", "1gbit,1us"}) {
    const absl::Status status = ParseBandwidthMbit("bandwidth", text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(status.message(),
              absl::StrCat("--bandwidth=", text,
                           ": must be a bandwidth in kbit, mbit or gbit, at least 0.001kbit and at "
                           "most 1000000gbit, e.g. --bandwidth=25gbit"));
  }
}

TEST(ParseLatencyTest, OfAFlagOfItsOwn) {
  EXPECT_DOUBLE_EQ(*ParseLatencyUs("latency", "20us"), 20);
  EXPECT_DOUBLE_EQ(*ParseLatencyUs("latency", "1.5ms"), 1500);
  EXPECT_DOUBLE_EQ(*ParseLatencyUs("latency", "0.1s"), 100'000);
  EXPECT_DOUBLE_EQ(*ParseLatencyUs("latency", "0us"), 0);
  for (const char* text : {"", "20", "-1us", "1gbit", "us", "1001s"}) {
    const absl::Status status = ParseLatencyUs("latency", text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(
        status.message(),
        absl::StrCat(
            "--latency=", text,
            ": must be a latency one way in us, ms or s, at most 1000s, e.g. --latency=20us"));
  }
}

}  // namespace
}  // namespace ringside
