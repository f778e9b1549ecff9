#include "common/half_precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace ringside {
namespace {

// How a 16-bit format is laid out below its sign bit, and what follows from that by arithmetic
// rather than by the tricks of the kernels.
struct Format {
  WireDtype dtype;
  int mantissa_bits;
  int bias;

  uint16_t infinity() const { return 0x7fff >> mantissa_bits << mantissa_bits; }

  // The exact value of a positive code up to infinity, which counts as the power of two that would
  // come next: rounding to it works out as overflow does.
  double Value(uint16_t code) const {
    const int exponent = code >> mantissa_bits;
    const int mantissa = code & ((1 << mantissa_bits) - 1);
    if (exponent == 0) return std::ldexp(mantissa, 1 - bias - mantissa_bits);
    return std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  }

  // The nearest code, the even one of two that are equally near.
  uint16_t Nearest(double magnitude) const {
    if (magnitude >= Value(infinity())) return infinity();
    uint16_t below = 0, above = infinity();
    while (above - below > 1) {
      const uint16_t middle = (below + above) / 2;
      (Value(middle) <= magnitude ? below : above) = middle;
    }
    const double down = magnitude - Value(below), up = Value(above) - magnitude;
    if (down == up) return below % 2 == 0 ? below : above;
    return down < up ? below : above;
  }
};

const Format kBf16 = {WireDtype::kBFloat16, 7, 127};
const Format kFp16 = {WireDtype::kFloat16, 10, 15};

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::vector<uint16_t> Encode(WireDtype dtype, const std::vector<float>& values) {
  std::vector<uint8_t> wire(2 * values.size());
  EncodeWire(dtype, values, absl::MakeSpan(wire));
  std::vector<uint16_t> codes;
  for (size_t i = 0; i < wire.size(); i += 2) codes.push_back(wire[i] | wire[i + 1] << 8);
  return codes;
}

std::vector<float> Decode(WireDtype dtype, const std::vector<uint16_t>& codes) {
  std::vector<uint8_t> wire;
  for (uint16_t code : codes) wire.insert(wire.end(), {uint8_t(code & 0xff), uint8_t(code >> 8)});
  std::vector<float> values(codes.size());
  DecodeWire(dtype, wire, absl::MakeSpan(values));
  return values;
}

class HalfPrecisionTest : public ::testing::TestWithParam<Format> {};

TEST_P(HalfPrecisionTest, DecodesEveryCodeAndEncodesItBack) {
  const Format& format = GetParam();
  std::vector<uint16_t> codes;
  for (uint32_t code = 0; code < 0x10000; ++code) codes.push_back(code);
  const std::vector<float> values = Decode(format.dtype, codes);
  const std::vector<uint16_t> again = Encode(format.dtype, values);
  for (uint16_t code : codes) {
    const uint16_t magnitude = code & 0x7fff;
    const float value = values[code];
    ASSERT_EQ(std::signbit(value), code >= 0x8000) << code;
    if (magnitude > format.infinity()) {
      const uint16_t quiet = 1 << (format.mantissa_bits - 1);
      const uint32_t payload = (code | quiet) & ((1 << format.mantissa_bits) - 1);
      ASSERT_TRUE(std::isnan(value));
      ASSERT_EQ(Bits(value) & 0x7fffff, payload << (23 - format.mantissa_bits)) << code;
      ASSERT_EQ(again[code], code | quiet);
      continue;
    }
    if (magnitude == format.infinity()) {
      ASSERT_TRUE(std::isinf(value));
    } else {
      ASSERT_EQ(std::fabs(value), format.Value(magnitude)) << code;
    }
    ASSERT_EQ(again[code], code);
  }
}

TEST_P(HalfPrecisionTest, RoundsToTheNearestAndTiesToEven) {
  const Format& format = GetParam();
  std::vector<float> values;
  for (uint16_t code = 0; code < format.infinity(); ++code) {
    const double tie = (format.Value(code) + format.Value(code + 1)) / 2;
    if (tie > std::numeric_limits<float>::max()) continue;
    const float exact = static_cast<float>(tie);
    ASSERT_TRUE(exact == tie || tie < std::numeric_limits<float>::min()) << code;
    for (float value : {std::nextafter(exact, 0.0f), exact, std::nextafter(exact, INFINITY)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  std::mt19937 random(1);
  while (values.size() < 400'000) {
    const float value = FromBits(random());
    if (!std::isnan(value)) values.push_back(value);
  }
  const std::vector<uint16_t> codes = Encode(format.dtype, values);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t sign = std::signbit(values[i]) ? 0x8000 : 0;
    ASSERT_EQ(codes[i], format.Nearest(std::fabs(values[i])) | sign) << std::hexfloat << values[i];
  }
}

TEST_P(HalfPrecisionTest, OverflowsToInfinity) {
  const Format& format = GetParam();
  const float max = std::numeric_limits<float>::max();
  const uint16_t infinity = format.infinity();
  EXPECT_EQ(Encode(format.dtype, {max, -max, INFINITY, -INFINITY}),
            (std::vector<uint16_t>{infinity, uint16_t(infinity | 0x8000), infinity,
                                   uint16_t(infinity | 0x8000)}));
}

TEST_P(HalfPrecisionTest, ANaNStaysOneEvenIfAllItsPayloadIsCutOff) {
  const Format& format = GetParam();
  const uint16_t quiet = format.infinity() | 1 << (format.mantissa_bits - 1);
  EXPECT_EQ(
      Encode(format.dtype, {FromBits(0x7f800001), FromBits(0xff800001), FromBits(0x7fffffff)}),
      (std::vector<uint16_t>{quiet, uint16_t(quiet | 0x8000), 0x7fff}));
}

TEST_P(HalfPrecisionTest, AddsThePartialSumOnTheLeft) {
  const Format& format = GetParam();
  const std::vector<float> partial = {1.5f, -0.0f, INFINITY, FromBits(0x7fc20000)};
  std::vector<float> own = {0.1f, -0.0f, -INFINITY, FromBits(0xffc00001)};
  std::vector<uint8_t> wire(2 * partial.size());
  EncodeWire(format.dtype, partial, absl::MakeSpan(wire));
  AddDecoded(format.dtype, wire, own, absl::MakeSpan(own));
  EXPECT_EQ(own[0], 1.5f + 0.1f);
  EXPECT_EQ(Bits(own[1]), 0x80000000);
  EXPECT_TRUE(std::isnan(own[2]));
  EXPECT_EQ(Bits(own[3]), 0x7fc20000);
}

INSTANTIATE_TEST_SUITE_P(, HalfPrecisionTest, ::testing::Values(kBf16, kFp16),
                         [](const auto& info) {
                           return info.param.dtype == WireDtype::kBFloat16 ? "bf16" : "fp16";
                         });

TEST(HalfPrecisionDeathTest, RefusesFloat32AndLengthsThatDiffer) {
  const std::vector<float> values(4);
  std::vector<uint8_t> wire(16);
  EXPECT_DEATH(EncodeWire(WireDtype::kFloat32, values, absl::MakeSpan(wire)), "internal error");
  EXPECT_DEATH(EncodeWire(WireDtype::kFloat16, values, absl::MakeSpan(wire)), "internal error");
}

}  // namespace
}  // namespace ringside
