#include "common/kernel_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "common/reduction.h"

namespace ringside {
namespace {

constexpr size_t kLong = 100'003;

std::vector<size_t> Lengths() {
  std::vector<size_t> lengths = {kLong};
  for (size_t length = 0; length <= 100; ++length) lengths.push_back(length);
  return lengths;
}

// Any bits at all, and every now and then one of the values where rules change.
std::vector<float> AnyFloats(size_t elements, uint32_t seed) {
  const std::vector<uint32_t> special = {0x00000000, 0x80000000,  // zeros
                                         0x00000001, 0x807fffff,  // denormals
                                         0x7f800000, 0xff800000,  // infinities
                                         0x7fc00000, 0xffc12345,  // quiet NaNs
                                         0x7f800001, 0xffa54321,  // signalling NaNs
                                         0x7f7fffff, 0x38800000, 0x387fffff, 0x33000000,
                                         0x33000001, 0x477fefff, 0x477ff000};
  std::mt19937 random(seed);
  std::vector<float> values(elements);
  for (float& value : values) {
    const uint32_t bits = random() % 4 == 0 ? special[random() % special.size()] : random();
    std::memcpy(&value, &bits, sizeof(value));
  }
  return values;
}

// Every upper half of a float with lower halves on and beside the ties of bf16 and fp16.
std::vector<float> FloatsAtTies() {
  std::vector<float> values;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (uint32_t lower : {0x0000, 0x0001, 0x0fff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x3001, 0x7fff,
                           0x8000, 0x8001, 0xffff}) {
      const uint32_t bits = upper << 16 | lower;
      values.emplace_back();
      std::memcpy(&values.back(), &bits, sizeof(bits));
    }
  }
  return values;
}

std::vector<uint8_t> AllHalves() {
  std::vector<uint8_t> wire(2 * 0x10000);
  for (size_t i = 0; i < wire.size(); ++i) wire[i] = (i % 2 == 0 ? i / 2 : i / 512) & 0xff;
  return wire;
}

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

template <typename T>
::testing::AssertionResult SameBytes(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << " of " << b.size();
  if (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0) {
    return ::testing::AssertionSuccess();
  }
  size_t i = 0;
  while (std::memcmp(&a[i], &b[i], sizeof(T)) == 0) ++i;
  return ::testing::AssertionFailure() << "they differ at " << i;
}

class KernelTableTest : public ::testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override {
    if (kernels_ == nullptr) GTEST_SKIP() << "this processor has no such instructions";
  }

  const KernelTable* const kernels_ = FindKernels(GetParam());
  const KernelTable& baseline_ = *FindKernels(InstructionSet::kBaseline);
};

TEST_P(KernelTableTest, FoldsAsTheBaselineDoesAtEveryLengthAndAlignment) {
  std::vector<std::vector<float>> values;
  for (uint32_t k = 0; k < kMaxFoldTerms; ++k) values.push_back(AnyFloats(kLong + 16, k));
  for (size_t count = 2; count <= kMaxFoldTerms; ++count) {
    std::vector<const float*> terms;
    for (size_t k = 0; k < count; ++k) terms.push_back(values[k].data() + (k * 3 + 1) % 16);
    for (size_t length : Lengths()) {
      // One float of margin at both ends shows stores outside of the range.
      std::vector<float> expected(length + 2, 7), actual(length + 2, 7);
      baseline_.fold(terms.data(), count, expected.data() + 1, length);
      kernels_->fold(terms.data(), count, actual.data() + 1, length);
      ASSERT_TRUE(SameBytes(actual, expected)) << count << " terms of " << length;
      for (size_t skew = 0; skew < 16; ++skew) {  // the start of `out` within a vector
        if (length == kLong && skew > 1) break;
        expected.insert(expected.begin(), 7);
        actual.assign(expected.size(), 7);
        kernels_->fold_past_caches(terms.data(), count, actual.data() + 2 + skew, length);
        ASSERT_TRUE(SameBytes(actual, expected)) << count << " terms of " << length;
      }
    }
  }
}

TEST_P(KernelTableTest, FoldsIntoAnyOfItsTerms) {
  const size_t length = 1001;
  for (size_t count = 2; count <= kMaxFoldTerms; ++count) {
    std::vector<std::vector<float>> values;
    for (uint32_t k = 0; k < count; ++k) values.push_back(AnyFloats(length, k));
    std::vector<const float*> terms;
    for (const std::vector<float>& term : values) terms.push_back(term.data());
    std::vector<float> expected(length);
    kernels_->fold(terms.data(), count, expected.data(), length);
    for (size_t target = 0; target < count; ++target) {
      std::vector<float> in_place = values[target];
      std::vector<const float*> own_terms = terms;
      own_terms[target] = in_place.data();
      kernels_->fold(own_terms.data(), count, in_place.data(), length);
      ASSERT_TRUE(SameBytes(in_place, expected)) << "term " << target << " of " << count;
    }
  }
}

// Checked against the rule itself, for the baseline could follow another one.
TEST_P(KernelTableTest, TheLeftNaNWinsAndTurnsQuiet) {
  const float left[] = {std::nanf("1"), -std::nanf("2"), 1.0f, std::nanf("4")};
  const float right[] = {-std::nanf("8"), std::nanf("16"), -std::nanf("32"), 1.0f};
  const std::vector<uint32_t> sums = {0x7fc00001, 0xffc00002, 0xffc00020, 0x7fc00004};
  for (size_t length : {size_t{3}, size_t{500}}) {
    std::vector<float> a, b;
    for (size_t i = 0; i < length; ++i) a.push_back(left[i % 4]);
    for (size_t i = 0; i < length; ++i) b.push_back(right[i % 4]);
    const float* const terms[] = {a.data(), b.data()};
    std::vector<float> out(length);
    kernels_->fold(terms, 2, out.data(), length);
    for (size_t i = 0; i < length; ++i) ASSERT_EQ(Bits(out[i]), sums[i % 4]) << i;
  }
}

TEST_P(KernelTableTest, EncodesAsTheBaselineDoes) {
  const std::vector<float> ties = FloatsAtTies();
  const std::vector<float> any = AnyFloats(kLong + 3, 1);
  for (auto encode : {&KernelTable::encode_bf16, &KernelTable::encode_fp16}) {
    std::vector<uint8_t> expected(2 * ties.size()), actual(2 * ties.size());
    (baseline_.*encode)(ties.data(), expected.data(), ties.size());
    (kernels_->*encode)(ties.data(), actual.data(), ties.size());
    ASSERT_TRUE(SameBytes(actual, expected));
    for (size_t length : Lengths()) {
      expected.assign(2 * length + 2, 7);
      actual.assign(2 * length + 2, 7);
      (baseline_.*encode)(any.data() + 3, expected.data() + 1, length);
      (kernels_->*encode)(any.data() + 3, actual.data() + 1, length);
      ASSERT_TRUE(SameBytes(actual, expected)) << length;
    }
  }
}

TEST_P(KernelTableTest, DecodesAsTheBaselineDoes) {
  std::vector<uint8_t> wire = AllHalves();
  wire.insert(wire.begin(), 0);  // odd addresses
  for (auto decode : {&KernelTable::decode_bf16, &KernelTable::decode_fp16}) {
    for (size_t length : Lengths()) {
      length = std::min(length, size_t{0x10000});
      std::vector<float> expected(length + 2, 7), actual(length + 2, 7);
      (baseline_.*decode)(wire.data() + 1, expected.data() + 1, length);
      (kernels_->*decode)(wire.data() + 1, actual.data() + 1, length);
      ASSERT_TRUE(SameBytes(actual, expected)) << length;
    }
  }
}

TEST_P(KernelTableTest, AddingDecodedIsDecodingThenAdding) {
  std::vector<uint8_t> wire = AllHalves();
  wire.insert(wire.begin(), 0);
  const std::vector<float> own = AnyFloats(0x10000 + 1, 5);
  const auto check = [&](auto decode, auto add) {
    for (size_t length : Lengths()) {
      length = std::min(length, size_t{0x10000});
      std::vector<float> expected(length), in_place(own.begin() + 1, own.begin() + 1 + length);
      decode(wire.data() + 1, expected.data(), length);
      const float* const terms[] = {expected.data(), own.data() + 1};
      baseline_.fold(terms, 2, expected.data(), length);
      std::vector<float> actual(length);
      add(wire.data() + 1, own.data() + 1, actual.data(), length);
      ASSERT_TRUE(SameBytes(actual, expected)) << length;
      add(wire.data() + 1, in_place.data(), in_place.data(), length);
      ASSERT_TRUE(SameBytes(in_place, expected)) << length;
    }
  };
  check(baseline_.decode_bf16, kernels_->add_bf16);
  check(baseline_.decode_fp16, kernels_->add_fp16);
}

TEST_P(KernelTableTest, SumsSquaresInTheSameOrder) {
  std::vector<float> values = AnyFloats(kLong + 16, 5);
  for (float& value : values) {
    if (!std::isfinite(value)) value = 1;
  }
  for (size_t length : Lengths()) {
    for (size_t skew : {0, 1, 7}) {
      const double expected = baseline_.sum_of_squares(values.data() + skew, length);
      ASSERT_TRUE(std::isfinite(expected));
      ASSERT_EQ(kernels_->sum_of_squares(values.data() + skew, length), expected) << length;
    }
  }
  for (size_t at : {size_t{0}, kLong / 2, kLong - 1}) {
    std::vector<float> bad = values;
    bad[at] = std::numeric_limits<float>::infinity();
    EXPECT_FALSE(std::isfinite(kernels_->sum_of_squares(bad.data(), kLong)));
  }
}

std::string SetName(const ::testing::TestParamInfo<InstructionSet>& info) {
  constexpr const char* kNames[] = {"baseline", "avx2", "avx512"};
  return kNames[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(, KernelTableTest,
                         ::testing::Values(InstructionSet::kBaseline, InstructionSet::kAvx2,
                                           InstructionSet::kAvx512),
                         SetName);

TEST(BestKernelsTest, AreTheWidestOfThisProcessor) {
  const KernelTable* widest = FindKernels(InstructionSet::kBaseline);
  EXPECT_STREQ(widest->name, "baseline");
  for (InstructionSet set : {InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (const KernelTable* wider = FindKernels(set)) widest = wider;
  }
  EXPECT_EQ(&BestKernels(), widest);
  EXPECT_EQ(CpuKernels(), widest->name);
}

}  // namespace
}  // namespace ringside
