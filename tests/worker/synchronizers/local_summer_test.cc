#include "worker/synchronizers/local_summer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "common/reduction.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

// Two buckets: 0 holds b (3 elements), 1 holds a (2 elements).
BucketPlan TwoBuckets() {
  auto plan = BucketPlan::Create({{"a", {2}, "float32"}, {"b", {3}, "float32"}}, 4, 4);
  EXPECT_TRUE(plan.ok());
  return *plan;
}

std::unique_ptr<LocalSummer> MakeSummer(int world_size,
                                        WireDtype wire_dtype = WireDtype::kFloat32) {
  auto summer = LocalSummer::Create({world_size, TwoBuckets(), wire_dtype});
  EXPECT_TRUE(summer.ok()) << summer.status();
  return std::move(*summer);
}

void SubmitAll(LocalSummer* summer, int64_t step, int rank, const std::vector<float>& gradients) {
  const BucketPlan plan = TwoBuckets();
  for (int bucket = 0; bucket < plan.size(); ++bucket) {
    const ElementRange& range = plan.bucket(bucket);
    summer->Submit(
        {step, rank, bucket, absl::MakeConstSpan(gradients).subspan(range.begin, range.length), 1});
  }
}

// What the reference fold makes of the gradients of all ranks, bucket by bucket.
std::vector<float> Folded(WireDtype wire_dtype, const std::vector<std::vector<float>>& gradients) {
  std::vector<float> expected(5);
  const BucketPlan plan = TwoBuckets();
  for (int bucket = 0; bucket < plan.size(); ++bucket) {
    const ElementRange& range = plan.bucket(bucket);
    std::vector<absl::Span<const float>> parts;
    for (const auto& own : gradients) {
      parts.push_back(absl::MakeConstSpan(own).subspan(range.begin, range.length));
    }
    FoldInLawOrder(wire_dtype, parts, absl::MakeSpan(expected).subspan(range.begin, range.length));
  }
  return expected;
}

TEST(LocalSummerTest, LentGradientsAreReadWhereTheyLie) {
  std::vector<std::vector<float>> gradients = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
  LocalSummer::Config config{2, TwoBuckets()};
  config.lent = true;
  const auto summer = *LocalSummer::Create(std::move(config));
  for (int rank : {0, 1}) SubmitAll(summer.get(), 1, rank, gradients[rank]);
  gradients[1][4] = 20;  // after it was submitted
  const auto sums = summer->Finish(1);
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_EQ(std::vector<float>(sums->begin(), sums->end()), Folded(WireDtype::kFloat32, gradients));
  SubmitAll(summer.get(), 2, 0, gradients[0]);
  EXPECT_THAT(std::string(summer->Finish(2).status().message()),
              HasSubstr("bucket 0 of rank 1 was submitted for step 1"));
}

TEST(LocalSummerTest, TheGradientsOfASingleRankAreTheSums) {
  LocalSummer::Config config{1, TwoBuckets(), WireDtype::kBFloat16};
  config.lent = true;
  const auto summer = *LocalSummer::Create(std::move(config));
  const std::vector<float> gradients = {1, 2.0001f, 3, 4, 5};  // not rounded: nothing travels
  SubmitAll(summer.get(), 1, 0, gradients);
  const auto sums = summer->Finish(1);
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_EQ(sums->data(), gradients.data());
  EXPECT_EQ(sums->size(), gradients.size());
}

TEST(LocalSummerTest, BucketsOfASingleRankThatLieApartAreRefused) {
  LocalSummer::Config config{1, TwoBuckets()};
  config.lent = true;
  const auto summer = *LocalSummer::Create(std::move(config));
  const std::vector<float> first = {1, 2, 3};
  const std::vector<float> second = {4, 5};
  summer->Submit({1, 0, 0, first, 1});
  summer->Submit({1, 0, 1, second, 1});
  EXPECT_THAT(std::string(summer->Finish(1).status().message()),
              HasSubstr("bucket 1 lies apart from the others"));
}

TEST(LocalSummerTest, FoldsEveryBucketInLawOrderAndRoundsAsTheRingDoes) {
  // Values whose sum depends on the order and on the rounding.
  const std::vector<std::vector<float>> gradients = {
      {30001, 1, 3e4f, 1, 3e4f}, {1, 3e4f, 1.3f, -3e4f, -3e4f}, {-3e4f, -3e4f, -3e4f, 1.7f, 1}};
  for (const WireDtype dtype : {WireDtype::kFloat32, WireDtype::kBFloat16, WireDtype::kFloat16}) {
    auto summer = MakeSummer(3, dtype);
    for (int rank : {2, 0, 1}) SubmitAll(summer.get(), 1, rank, gradients[rank]);
    const auto sums = summer->Finish(1);
    ASSERT_TRUE(sums.ok()) << sums.status();
    const std::vector<float> found(sums->begin(), sums->end());
    EXPECT_EQ(found, Folded(dtype, gradients));
    EXPECT_EQ(found == Folded(WireDtype::kFloat32, gradients), dtype == WireDtype::kFloat32);
  }
}

TEST(LocalSummerTest, SubmittedGradientsMayBeOverwrittenAtOnce) {
  auto summer = MakeSummer(2);
  std::vector<float> gradients = {1, 2, 3, 4, 5};
  SubmitAll(summer.get(), 1, 0, gradients);
  gradients = {10, 20, 30, 40, 50};
  SubmitAll(summer.get(), 1, 1, gradients);
  const auto sums = summer->Finish(1);
  ASSERT_TRUE(sums.ok());
  EXPECT_EQ(std::vector<float>(sums->begin(), sums->end()),
            (std::vector<float>{11, 22, 33, 44, 55}));
}

TEST(LocalSummerTest, OneRankSumsToItself) {
  auto summer = MakeSummer(1);
  SubmitAll(summer.get(), 0, 0, {-0.0f, 1, 2, 3, 4});
  const auto sums = summer->Finish(0);
  ASSERT_TRUE(sums.ok());
  EXPECT_TRUE(std::signbit((*sums)[0]));
}

TEST(LocalSummerTest, AMissingSubmissionNamesRankAndBucketAndSticks) {
  auto summer = MakeSummer(2);
  SubmitAll(summer.get(), 1, 0, {1, 2, 3, 4, 5});
  const auto sums = summer->Finish(1);
  EXPECT_EQ(sums.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(sums.status().message()),
              HasSubstr("step 1 cannot be summed: bucket 0 of rank 1 was never submitted"));
  SubmitAll(summer.get(), 1, 1, {1, 2, 3, 4, 5});
  EXPECT_FALSE(summer->Finish(1).ok());
}

TEST(LocalSummerTest, LastStepsGradientsDoNotCountAgain) {
  auto summer = MakeSummer(1);
  SubmitAll(summer.get(), 1, 0, {1, 2, 3, 4, 5});
  ASSERT_TRUE(summer->Finish(1).ok());
  EXPECT_THAT(std::string(summer->Finish(2).status().message()),
              HasSubstr("bucket 0 of rank 0 was submitted for step 1"));
}

TEST(LocalSummerTest, RefusesWhatDoesNotFit) {
  const std::vector<float> three(3);
  const struct {
    GradientBucket bucket;
    const char* message;
  } cases[] = {
      {{1, 2, 0, three, 1}, "ranks go from 0 to 1"},
      {{1, -1, 0, three, 1}, "ranks go from 0 to 1"},
      {{1, 0, 2, three, 1}, "buckets go from 0 to 1"},
      {{1, 0, 1, three, 1}, "3 elements, the plan says 2"},
  };
  for (const auto& test : cases) {
    auto summer = MakeSummer(2);
    summer->Submit(test.bucket);
    EXPECT_THAT(std::string(summer->Finish(1).status().message()), HasSubstr(test.message));
  }
  auto summer = MakeSummer(1);
  SubmitAll(summer.get(), 1, 0, {1, 2, 3, 4, 5});
  SubmitAll(summer.get(), 1, 0, {1, 2, 3, 4, 5});
  EXPECT_THAT(std::string(summer->Finish(1).status().message()), HasSubstr("submitted before"));
}

TEST(LocalSummerTest, AbortIsWhatFinishReturns) {
  auto summer = MakeSummer(1);
  summer->Abort(absl::AbortedError("worker 1 was lost"));
  SubmitAll(summer.get(), 1, 0, {1, 2, 3, 4, 5});
  EXPECT_EQ(summer->Finish(1).status(), absl::AbortedError("worker 1 was lost"));
}

TEST(LocalSummerTest, ThereIsNoTrafficAndNoCommunication) {
  auto summer = MakeSummer(2);
  EXPECT_EQ(summer->communication().hidden, absl::ZeroDuration());
  EXPECT_EQ(summer->communication().exposed, absl::ZeroDuration());
  EXPECT_TRUE(summer->traffic() == TrafficCounters());
  EXPECT_TRUE(summer->ExpectedTraffic(7) == TrafficCounters());
}

TEST(LocalSummerTest, RefusesAnEmptyWorld) {
  EXPECT_EQ(LocalSummer::Create({0, TwoBuckets()}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ringside
