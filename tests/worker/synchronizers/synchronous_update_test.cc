#include "worker/synchronizers/synchronous_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <utility>

#include "worker/synchronizers/local_summer.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

BucketPlan FiveElements() {
  auto plan = BucketPlan::Create({{"a", {2}, "float32"}, {"b", {3}, "float32"}}, 4, 4);
  EXPECT_TRUE(plan.ok());
  return *plan;
}

std::unique_ptr<GradientSynchronizer> MakeLocal(std::vector<int> hosted_ranks,
                                                OptimizerConfig optimizer = {}) {
  auto summer = LocalSummer::Create({static_cast<int>(hosted_ranks.size()), FiveElements()});
  EXPECT_TRUE(summer.ok());
  auto synchronizer = SynchronousUpdate::Create(
      {FiveElements(), std::move(hosted_ranks), std::move(optimizer), std::move(*summer)});
  EXPECT_TRUE(synchronizer.ok()) << synchronizer.status();
  return std::move(*synchronizer);
}

void SubmitAll(GradientSynchronizer* synchronizer, int64_t step, int rank,
               const std::vector<float>& gradients) {
  const BucketPlan plan = FiveElements();
  for (int bucket = 0; bucket < plan.size(); ++bucket) {
    const ElementRange& range = plan.bucket(bucket);
    synchronizer->Submit(
        {step, rank, bucket, absl::MakeConstSpan(gradients).subspan(range.begin, range.length), 1});
  }
}

// A summer that hands out prepared sums and records what it was given.
class ScriptedSummer final : public GradientSummer {
 public:
  explicit ScriptedSummer(std::vector<float> sums) : sums_(std::move(sums)) {}

  void Submit(const GradientBucket& bucket) override {
    submitted.push_back({bucket.step, bucket.rank, bucket.bucket});
    values.insert(values.end(), bucket.gradients.begin(), bucket.gradients.end());
  }
  absl::StatusOr<absl::Span<const float>> Finish(int64_t) override {
    if (!status.ok()) return status;
    return absl::MakeConstSpan(sums_);
  }
  CommunicationTimes communication() const override {
    return {absl::Milliseconds(3), absl::Milliseconds(4)};
  }
  void Abort(absl::Status cause) override { status = std::move(cause); }
  absl::Status Shutdown() override { return status; }
  TrafficCounters traffic() const override { return {1, 2, 3, 4, 5, 6}; }
  TrafficCounters ExpectedTraffic(int64_t exchanges) const override {
    TrafficCounters expected;
    expected.payload_bytes_sent = 100 * exchanges;
    return expected;
  }

  std::vector<std::array<int64_t, 3>> submitted;
  std::vector<float> values;
  absl::Status status;

 private:
  const std::vector<float> sums_;
};

struct Scripted {
  ScriptedSummer* summer;
  std::unique_ptr<GradientSynchronizer> synchronizer;
};

Scripted MakeScripted(std::vector<int> hosted_ranks, std::vector<float> sums) {
  auto summer = std::make_unique<ScriptedSummer>(std::move(sums));
  Scripted scripted;
  scripted.summer = summer.get();
  SynchronousUpdate::Config config{FiveElements(), std::move(hosted_ranks), {}, std::move(summer)};
  scripted.synchronizer = *SynchronousUpdate::Create(std::move(config));
  return scripted;
}

TEST(SynchronousUpdateTest, StartKeepsEveryBitOfRankZero) {
  const float kDenormal = std::numeric_limits<float>::denorm_min();
  const std::vector<float> values = {-0.0f, 0.0f, kDenormal, -1.5f,
                                     std::numeric_limits<float>::max()};
  for (int world : {1, 2, 3, 4, 7}) {
    std::vector<int> ranks(world);
    for (int i = 0; i < world; ++i) ranks[i] = i;
    auto synchronizer = MakeLocal(ranks);
    std::vector<float> parameters = values;
    ASSERT_TRUE(synchronizer->Start(absl::MakeSpan(parameters)).ok());
    EXPECT_EQ(std::memcmp(parameters.data(), values.data(), sizeof(float) * values.size()), 0)
        << world << " ranks";
  }
}

TEST(SynchronousUpdateTest, OtherRanksStartWithNegativeZerosAndTakeTheSums) {
  Scripted scripted = MakeScripted({3}, {1, 2, 3, 4, 5});
  std::vector<float> parameters = {9, 9, 9, 9, 9};
  ASSERT_TRUE(scripted.synchronizer->Start(absl::MakeSpan(parameters)).ok());
  EXPECT_EQ(parameters, (std::vector<float>{1, 2, 3, 4, 5}));
  EXPECT_EQ(scripted.summer->submitted,
            (std::vector<std::array<int64_t, 3>>{{0, 3, 0}, {0, 3, 1}}));
  for (float value : scripted.summer->values) {
    EXPECT_EQ(value, 0);
    EXPECT_TRUE(std::signbit(value));
  }
}

TEST(SynchronousUpdateTest, FinishAppliesTheOptimizerToTheSums) {
  OptimizerConfig sgd;
  sgd.learning_rate = 0.5;
  auto synchronizer = MakeLocal({0, 1}, sgd);
  std::vector<float> parameters = {10, 10, 10, 10, 10};
  ASSERT_TRUE(synchronizer->Start(absl::MakeSpan(parameters)).ok());
  SubmitAll(synchronizer.get(), 1, 0, {1, 2, 3, 4, 5});
  SubmitAll(synchronizer.get(), 1, 1, {1, 2, 3, 4, 5});
  const auto stats = synchronizer->Finish(1);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->communication.hidden, absl::ZeroDuration());  // `local` has none
  EXPECT_EQ(stats->communication.exposed, absl::ZeroDuration());
  EXPECT_GE(stats->optimizer, absl::ZeroDuration());
  EXPECT_EQ(parameters, (std::vector<float>{9, 8, 7, 6, 5}));
  EXPECT_TRUE(synchronizer->Shutdown().ok());
}

TEST(SynchronousUpdateTest, EveryStepHasTheRateOfTheSchedule) {
  SynchronousUpdate::Config config{
      FiveElements(), {0}, {}, std::make_unique<ScriptedSummer>(std::vector<float>(5, 8.0f))};
  config.optimizer.learning_rate = 1;
  config.learning_rate.schedule = "step";
  config.learning_rate.decay_steps = 1;
  config.learning_rate.decay_factor = 0.5;
  auto synchronizer = *SynchronousUpdate::Create(std::move(config));
  std::vector<float> parameters(5);
  ASSERT_TRUE(synchronizer->Start(absl::MakeSpan(parameters)).ok());  // 8: the sums
  int64_t step = 0;
  for (float expected : {0.0f, -4.0f, -6.0f}) {
    ASSERT_TRUE(synchronizer->Finish(++step).ok());
    EXPECT_EQ(parameters, std::vector<float>(5, expected));
  }
}

TEST(SynchronousUpdateTest, CommunicationIsWhatTheSummerSays) {
  Scripted scripted = MakeScripted({0}, {1, 2, 3, 4, 5});
  std::vector<float> parameters(5);
  ASSERT_TRUE(scripted.synchronizer->Start(absl::MakeSpan(parameters)).ok());
  const auto stats = scripted.synchronizer->Finish(1);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->communication.hidden, absl::Milliseconds(3));
  EXPECT_EQ(stats->communication.exposed, absl::Milliseconds(4));
}

TEST(SynchronousUpdateTest, ErrorsOfTheSummerComeThrough) {
  Scripted scripted = MakeScripted({0}, {1, 2, 3, 4, 5});
  std::vector<float> parameters(5);
  scripted.summer->status = absl::UnavailableError("worker 1 is gone");
  EXPECT_EQ(scripted.synchronizer->Start(absl::MakeSpan(parameters)), scripted.summer->status);
  EXPECT_EQ(scripted.synchronizer->Finish(1).status().code(),
            absl::StatusCode::kFailedPrecondition);
  scripted.summer->status = absl::OkStatus();
  ASSERT_TRUE(scripted.synchronizer->Start(absl::MakeSpan(parameters)).ok());
  scripted.synchronizer->Abort(absl::AbortedError("verdict"));
  EXPECT_EQ(scripted.synchronizer->Finish(1).status(), absl::AbortedError("verdict"));
  EXPECT_EQ(scripted.synchronizer->Shutdown().status(), absl::AbortedError("verdict"));
}

TEST(SynchronousUpdateTest, ExpectsOneExchangeMoreThanSteps) {
  Scripted scripted = MakeScripted({0}, {1, 2, 3, 4, 5});
  EXPECT_EQ(scripted.synchronizer->ExpectedTraffic(0).payload_bytes_sent, 100);
  EXPECT_EQ(scripted.synchronizer->ExpectedTraffic(9).payload_bytes_sent, 1000);
  EXPECT_TRUE(scripted.synchronizer->traffic() == (TrafficCounters{1, 2, 3, 4, 5, 6}));
}

TEST(SynchronousUpdateTest, RefusesBadArguments) {
  SynchronousUpdate::Config no_ranks{FiveElements(), {}, {}, nullptr};
  EXPECT_EQ(SynchronousUpdate::Create(std::move(no_ranks)).status().code(),
            absl::StatusCode::kInvalidArgument);
  SynchronousUpdate::Config bad_optimizer{FiveElements(), {0}, {}, nullptr};
  bad_optimizer.optimizer.learning_rate = -1;
  EXPECT_THAT(std::string(SynchronousUpdate::Create(std::move(bad_optimizer)).status().message()),
              HasSubstr("--learning_rate=-1"));
  SynchronousUpdate::Config bad_schedule{FiveElements(), {0}, {}, nullptr};
  bad_schedule.learning_rate.schedule = "poly";
  EXPECT_THAT(std::string(SynchronousUpdate::Create(std::move(bad_schedule)).status().message()),
              HasSubstr("--lr_schedule=poly"));
  std::vector<float> four(4);
  EXPECT_EQ(MakeLocal({0})->Start(absl::MakeSpan(four)).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ringside
