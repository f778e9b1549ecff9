#include "experiments/model/parameter_count.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(ParameterCountTest, ReadsWhatPeopleWrite) {
  EXPECT_EQ(*ParseParameterCount("25.6M"), 25'600'000);
  EXPECT_EQ(*ParseParameterCount("7b"), 7'000'000'000);
  EXPECT_EQ(*ParseParameterCount("12k"), 12'000);
  EXPECT_EQ(*ParseParameterCount("1000"), 1000);
  EXPECT_EQ(*ParseParameterCount(" 1e6 "), 1'000'000);
}

TEST(ParameterCountTest, RefusesTheRestAndSaysWhatIsRight) {
  for (const char* text : {"", "0", "-5", "1e30", "101B", "many", "M", "nan", "infk", "5 M M"}) {
    const absl::Status status = ParseParameterCount(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(status.message(), absl::StrCat("--parameters=", text,
                                             ": must be a number from 1 to 1e11, k, M or B behind "
                                             "it or not, e.g. --parameters=25.6M"));
  }
}

}  // namespace
}  // namespace ringside
