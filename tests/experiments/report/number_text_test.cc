#include "experiments/report/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace ringside {
namespace {

TEST(ExactNumberTest, IsShortestAndReadsBack) {
  EXPECT_EQ(ExactNumber(0.1), "0.1");
  EXPECT_EQ(ExactNumber(0), "0");
  EXPECT_EQ(ExactNumber(1e300), "1e+300");
  for (double value : {1.0 / 3, 0.1 + 0.2, 123456.789, -2.5e-17, std::nextafter(1.0, 2.0)}) {
    EXPECT_EQ(std::strtod(ExactNumber(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(ExactNumber(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(ExactNumber(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(RoundedNumberTest, ThreeDigits) {
  EXPECT_EQ(RoundedNumber(0), "0");
  EXPECT_EQ(RoundedNumber(0.012345), "0.0123");
  EXPECT_EQ(RoundedNumber(9.999), "10.0");
  EXPECT_EQ(RoundedNumber(99.96), "100");
  EXPECT_EQ(RoundedNumber(12345.6), "12,346");
  EXPECT_EQ(RoundedNumber(3.14e-8), "3.1e-08");
  EXPECT_EQ(RoundedNumber(-1234567), "-1,234,567");
}

TEST(SecondsTest, ChoosesAUnit) {
  EXPECT_EQ(Seconds(0), "0 s");
  EXPECT_EQ(Seconds(0.0208), "20.8 ms");
  EXPECT_EQ(Seconds(12.3e-6), "12.3 µs");
  EXPECT_EQ(Seconds(0.99999), "1.00 s");
  EXPECT_EQ(Seconds(250e-9), "250 ns");
}

TEST(BytesTest, ChoosesAUnit) {
  EXPECT_EQ(Bytes(0), "0 B");
  EXPECT_EQ(Bytes(1536), "1.50 KiB");
  EXPECT_EQ(Bytes(1048576), "1.00 MiB");
}

TEST(BytesPerSecondTest, CountsInThousandsAsLinksDo) {
  EXPECT_EQ(BytesPerSecond(0), "0 B/s");
  EXPECT_EQ(BytesPerSecond(1536), "1.54 kB/s");
  EXPECT_EQ(BytesPerSecond(11.875e6), "11.9 MB/s");
  EXPECT_EQ(BytesPerSecond(3.6e9), "3.60 GB/s");
}

TEST(CountedTest, SingularAndPlural) {
  EXPECT_EQ(Counted(1, "worker"), "1 worker");
  EXPECT_EQ(Counted(0, "worker"), "0 workers");
  EXPECT_EQ(Counted(1200, "step"), "1,200 steps");
}

TEST(PercentTest, Rounds) { EXPECT_EQ(Percent(0.9655, 2), "96.55 %"); }

}  // namespace
}  // namespace ringside
