#include "worker/models/bucket_tracker.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

// Parameters a, b, c, d of one element each; bucket 0 = {d}, bucket 1 = {b, c}, bucket 2 = {a}.
BucketPlan ThreeBuckets() {
  auto plan = BucketPlan::Create(
      {{"a", {1}, "float32"}, {"b", {1}, "float32"}, {"c", {1}, "float32"}, {"d", {1}, "float32"}},
      4, 8);
  EXPECT_TRUE(plan.ok());
  EXPECT_EQ(plan->size(), 3);
  return *plan;
}

class BucketTrackerTest : public testing::Test {
 protected:
  std::vector<int> emitted_;
  BucketTracker tracker_{ThreeBuckets(), [this](int bucket) { emitted_.push_back(bucket); }};
};

TEST_F(BucketTrackerTest, EmitsEachBucketWithItsLastParameter) {
  tracker_.ParameterReady(3);
  EXPECT_EQ(emitted_, std::vector<int>{0});
  tracker_.ParameterReady(2);
  EXPECT_EQ(emitted_, std::vector<int>{0});
  tracker_.ParameterReady(1);
  EXPECT_EQ(emitted_, (std::vector<int>{0, 1}));
  tracker_.ParameterReady(0);
  EXPECT_EQ(emitted_, (std::vector<int>{0, 1, 2}));
  tracker_.Flush();
  EXPECT_EQ(emitted_.size(), 3u);
}

TEST_F(BucketTrackerTest, AFullBucketWaitsForItsPredecessors) {
  tracker_.ParameterReady(0);
  tracker_.ParameterReady(1);
  tracker_.ParameterReady(2);
  EXPECT_TRUE(emitted_.empty());
  tracker_.ParameterReady(3);
  EXPECT_EQ(emitted_, (std::vector<int>{0, 1, 2}));
}

TEST_F(BucketTrackerTest, SaysWhenABucketIsFullWhateverItsPredecessors) {
  std::vector<int> full;
  BucketTracker tracker(
      ThreeBuckets(), [this](int bucket) { emitted_.push_back(bucket); },
      [&full](int bucket) { full.push_back(bucket); });
  tracker.ParameterReady(0);
  tracker.ParameterReady(2);
  EXPECT_EQ(full, std::vector<int>{2});
  tracker.ParameterReady(1);
  EXPECT_EQ(full, (std::vector<int>{2, 1}));
  EXPECT_TRUE(emitted_.empty());
  tracker.Flush();
  EXPECT_EQ(full.size(), 2u);
}

TEST_F(BucketTrackerTest, FlushEmitsTheRestInOrder) {
  tracker_.ParameterReady(3);
  tracker_.ParameterReady(0);
  tracker_.Flush();
  EXPECT_EQ(emitted_, (std::vector<int>{0, 1, 2}));
  tracker_.Flush();
  EXPECT_EQ(emitted_.size(), 3u);
}

TEST_F(BucketTrackerTest, ResetBeginsAnew) {
  tracker_.ParameterReady(3);
  tracker_.Flush();
  tracker_.Reset();
  emitted_.clear();
  tracker_.Flush();
  EXPECT_EQ(emitted_, (std::vector<int>{0, 1, 2}));
}

TEST_F(BucketTrackerTest, AParameterCannotBeReadyTwice) {
  tracker_.ParameterReady(3);
  EXPECT_DEATH(tracker_.ParameterReady(3), "internal error");
}

}  // namespace
}  // namespace ringside
