#include "common/bucket_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::HasSubstr;

std::vector<ParameterSpec> Specs(const std::vector<int64_t>& lengths) {
  std::vector<ParameterSpec> specs;
  for (size_t i = 0; i < lengths.size(); ++i)
    specs.push_back({"p" + std::to_string(i), {lengths[i]}});
  return specs;
}

TEST(BucketPlanTest, FillsFromTheLastParameterAndClosesWhenFull) {
  // 4-byte elements: the first bucket closes at 8 bytes, the others at 20.
  const auto plan = BucketPlan::Create(Specs({6, 3, 2, 1, 1}), 8, 20);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->size(), 3);
  EXPECT_EQ(plan->bucket(0), (ElementRange{11, 2}));
  EXPECT_EQ(plan->bucket(1), (ElementRange{6, 5}));
  EXPECT_EQ(plan->bucket(2), (ElementRange{0, 6}));
  EXPECT_EQ(plan->total_elements(), 13);
  EXPECT_EQ(plan->bucket_of_parameter(4), 0);
  EXPECT_EQ(plan->bucket_of_parameter(1), 1);
  EXPECT_EQ(plan->bucket_of_parameter(0), 2);
  EXPECT_EQ(plan->parameter(2), (ElementRange{9, 2}));
}

TEST(BucketPlanTest, LastBucketMayStayBelowItsSize) {
  const auto plan = BucketPlan::Create(Specs({1, 2, 3}), 4, 1000);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->size(), 2);
  EXPECT_EQ(plan->bucket(1), (ElementRange{0, 3}));
}

TEST(BucketPlanTest, ALargeParameterIsNeverSplit) {
  const auto plan = BucketPlan::Create(Specs({1'000'000}), 4, 4);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->size(), 1);
}

TEST(BucketPlanTest, BucketsTileTheArena) {
  const auto plan = BucketPlan::Create(Specs({5, 9, 1, 1, 7, 30, 2, 2}), 10, 33);
  ASSERT_TRUE(plan.ok());
  int64_t end = plan->total_elements();
  for (int b = 0; b < plan->size(); ++b) {
    EXPECT_EQ(plan->bucket(b).end(), end);
    end = plan->bucket(b).begin;
  }
  EXPECT_EQ(end, 0);
}

TEST(BucketPlanTest, HashTellsNamesShapesAndSizesApart) {
  const std::string hash = BucketPlan::Create(Specs({4, 4}), 4, 4)->hash();
  EXPECT_EQ(hash.size(), 64u);
  EXPECT_EQ(BucketPlan::Create(Specs({4, 4}), 4, 4)->hash(), hash);
  EXPECT_NE(BucketPlan::Create(Specs({4, 4}), 32, 4)->hash(), hash);
  EXPECT_NE(BucketPlan::Create(Specs({4, 5}), 4, 4)->hash(), hash);
  auto renamed = Specs({4, 4});
  renamed[0].name = "q0";
  EXPECT_NE(BucketPlan::Create(renamed, 4, 4)->hash(), hash);
  auto reshaped = Specs({4, 4});
  reshaped[0].shape = {2, 2};
  EXPECT_NE(BucketPlan::Create(reshaped, 4, 4)->hash(), hash);
}

TEST(BucketPlanTest, RefusesWhatCannotBeSynchronized) {
  EXPECT_THAT(BucketPlan::Create({}, 4, 4).status().message(), HasSubstr("no parameters"));
  EXPECT_THAT(BucketPlan::Create(Specs({4, 0}), 4, 4).status().message(),
              HasSubstr("p1 float32 [0]"));
  EXPECT_THAT(BucketPlan::Create({{"w", {2}, "float64"}}, 4, 4).status().message(),
              HasSubstr("w float64"));
  EXPECT_THAT(BucketPlan::Create(Specs({4}), 0, 4).status().message(),
              HasSubstr("at least 1 byte"));
}

}  // namespace
}  // namespace ringside
