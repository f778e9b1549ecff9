#include "common/sha256.h"

#include <gtest/gtest.h>

#include <vector>

namespace ringside {
namespace {

TEST(Sha256Test, KnownAnswers) {  // FIPS 180-2, appendix B
  EXPECT_EQ(Sha256Hex(absl::string_view("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(absl::string_view("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256Test, FloatsAreHashedByTheirBits) {
  const std::vector<float> zero = {0.0f};
  const std::vector<float> minus_zero = {-0.0f};
  EXPECT_EQ(Sha256Hex(absl::MakeConstSpan(zero)), Sha256Hex(absl::string_view("\0\0\0\0", 4)));
  EXPECT_NE(Sha256Hex(absl::MakeConstSpan(zero)), Sha256Hex(absl::MakeConstSpan(minus_zero)));
}

}  // namespace
}  // namespace ringside
