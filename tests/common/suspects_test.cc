#include "common/suspects.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(SuspectsTest, TravelWithTheStatus) {
  const absl::Status status =
      WithSuspects(absl::UnavailableError("link broken"), {WorkerId(2), ShardId(0)});
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 2, shard 0");
  EXPECT_EQ(status.message(), "link broken");
}

TEST(SuspectsTest, NoneByDefault) {
  EXPECT_TRUE(SuspectsOf(absl::UnavailableError("x")).empty());
  EXPECT_TRUE(WithSuspects(absl::OkStatus(), {WorkerId(1)}).ok());
}

}  // namespace
}  // namespace ringside
