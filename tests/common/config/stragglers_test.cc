#include "common/config/stragglers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::HasSubstr;

TEST(StragglersTest, DelaysOfARankAndStepAddUp) {
  const auto slow = ParseStragglers("2:50ms,0:1.5s@10:20,2:1ms@11:11");
  ASSERT_TRUE(slow.ok()) << slow.status();
  EXPECT_EQ(DelayOf(*slow, 1, 10), absl::ZeroDuration());
  EXPECT_EQ(DelayOf(*slow, 2, 10), absl::Milliseconds(50));
  EXPECT_EQ(DelayOf(*slow, 2, 11), absl::Milliseconds(51));
  EXPECT_EQ(DelayOf(*slow, 0, 9), absl::ZeroDuration());
  EXPECT_EQ(DelayOf(*slow, 0, 20), absl::Milliseconds(1500));
  EXPECT_TRUE(ParseStragglers("")->empty());
}

TEST(StragglersTest, RefusesByTheEntry) {
  const auto refusal = [](const char* text) {
    const absl::Status status = ParseStragglers(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("1:5ms,2"),
            "--stragglers: \"2\": must be RANK:DURATION, or RANK:DURATION@FROM:TO, e.g. 2:50ms");
  EXPECT_THAT(refusal("x:5ms"), HasSubstr("\"x:5ms\": must be RANK:DURATION"));
  EXPECT_THAT(refusal("1:5"), HasSubstr("must be RANK:DURATION"));
  EXPECT_THAT(refusal("-1:5ms"), HasSubstr("the rank must be at least 0"));
  EXPECT_THAT(refusal("1:0ms"), HasSubstr("positive"));
  EXPECT_THAT(refusal("1:inf"), HasSubstr("positive and finite"));
  EXPECT_THAT(refusal("1:5ms@7"), HasSubstr("\"1:5ms@7\": must be FROM:TO"));
  EXPECT_THAT(refusal("1:5ms@"), HasSubstr("must be FROM:TO"));
}

TEST(StragglersTest, KnowsWhichRanksThereAre) {
  EXPECT_TRUE(CheckStragglers("1:5ms", 2).ok());
  EXPECT_EQ(CheckStragglers("0:5ms,2:5ms", 2).message(),
            "--stragglers=0:5ms,2:5ms: there is no rank 2; must be from 0 to 1");
}

}  // namespace
}  // namespace ringside
