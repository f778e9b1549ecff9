// A gradient that is not finite: what SynchronousUpdate does on one process, and what it says.
#include "worker/synchronizers/non_finite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "common/suspects.h"
#include "worker/synchronizers/local_summer.h"
#include "worker/synchronizers/synchronous_update.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kHuge = std::numeric_limits<float>::max();

// Two buckets: that of "b" comes first.
BucketPlan Plan() { return *BucketPlan::Create({{"a", {2}}, {"b", {3}}}, 4, 4); }

// Answers for the processes that are not there.
class ScriptedCensus final : public NonFiniteCensus {
 public:
  absl::StatusOr<std::vector<std::string>> Ask(int64_t step, const std::string& own) override {
    asked.push_back(step);
    if (!status.ok()) return status;
    return std::vector<std::string>{own, other};
  }

  std::vector<int64_t> asked;
  std::string other;
  absl::Status status;
};

// `local` with two ranks, or one rank whose summer is alone; all rates 1.
struct Local {
  explicit Local(bool skip, int ranks = 2, const std::string& optimizer = "sgd",
                 std::unique_ptr<NonFiniteCensus> census = nullptr) {
    SynchronousUpdate::Config config{Plan(), {}, {}, *LocalSummer::Create({ranks, Plan()})};
    for (int rank = 0; rank < ranks; ++rank) config.hosted_ranks.push_back(rank);
    config.optimizer.name = optimizer;
    config.optimizer.learning_rate = 1;
    config.skip_nonfinite = skip;
    config.census = std::move(census);
    synchronizer = *SynchronousUpdate::Create(std::move(config));
    EXPECT_TRUE(synchronizer->Start(absl::MakeSpan(parameters)).ok());
  }

  // As `local` does, the ranks' gradients lie in one buffer, one after the other.
  absl::StatusOr<StepStats> Step(int64_t step, const std::vector<Values>& gradients) {
    const BucketPlan plan = Plan();
    Values buffer(5);
    for (size_t rank = 0; rank < gradients.size(); ++rank) {
      buffer = gradients[rank];
      for (int bucket = 0; bucket < plan.size(); ++bucket) {
        const ElementRange& range = plan.bucket(bucket);
        synchronizer->Submit({step, static_cast<int>(rank), bucket,
                              absl::MakeConstSpan(buffer).subspan(range.begin, range.length), 1});
      }
    }
    buffer.assign(5, 7);
    return synchronizer->Finish(step);
  }

  Values parameters = Values(5, 1.0f);
  std::unique_ptr<GradientSynchronizer> synchronizer;
};

const Values kOnes(5, 1.0f);

TEST(NonFiniteTest, StopNamesRankStepParameterAndElement) {
  Local local(/*skip=*/false);
  ASSERT_TRUE(local.Step(1, {kOnes, kOnes}).ok());
  const absl::Status status = local.Step(2, {kOnes, {1, 1, 1, kNan, kNan}}).status();
  EXPECT_EQ(status, absl::DataLossError("step 2: the gradient of worker 1 is not finite: nan in b, "
                                        "element 1; 2 elements in all"));
  // Sticky.
  EXPECT_EQ(local.Step(3, {kOnes, kOnes}).status(), status);
  EXPECT_EQ(local.synchronizer->Shutdown().status(), status);
}

TEST(NonFiniteTest, AllRanksThatHaveOneAreNamed) {
  Local local(false);
  const absl::Status status =
      local.Step(1, {{1, -kInfinity, 1, 1, 1}, {1, 1, kNan, 1, 1}}).status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("worker 0 is not finite: -inf in a, element 1; 1 element in all; the "
                        "gradient of worker 1 is not finite: nan in b, element 0"));
}

TEST(NonFiniteTest, AnOverflowOfTheSumIsNobodysGradient) {
  Local local(false);
  const Values huge = {1, 1, 1, kHuge, 1};
  const absl::Status status = local.Step(1, {huge, huge}).status();
  EXPECT_EQ(status.message(),
            "step 1: the sum of all gradients is not finite though every worker's own is, so it "
            "overflowed: inf in b, element 1");
  EXPECT_TRUE(SuspectsOf(status).empty());
}

TEST(NonFiniteTest, SkippingLeavesParametersAndOptimizerAsTheyWere) {
  for (const char* optimizer : {"sgd", "adam", "lars"}) {
    Local skipping(/*skip=*/true, 2, optimizer);
    Local plain(true, 2, optimizer);
    EXPECT_TRUE(skipping.Step(1, {kOnes, kOnes})->skipped.empty());
    const auto skipped = skipping.Step(2, {{kNan, 1, 1, 1, 1}, kOnes});
    ASSERT_TRUE(skipped.ok()) << skipped.status();
    EXPECT_EQ(skipped->skipped,
              "step 2: the gradient of worker 0 is not finite: nan in a, element 0; 1 element in "
              "all");
    EXPECT_EQ(skipped->parameters_step, 2);
    // The update that follows is the second one: the same bits as without the skipped step.
    EXPECT_TRUE(skipping.Step(3, {kOnes, kOnes})->skipped.empty());
    ASSERT_TRUE(plain.Step(1, {kOnes, kOnes}).ok());
    ASSERT_TRUE(plain.Step(2, {kOnes, kOnes}).ok());
    EXPECT_EQ(skipping.parameters, plain.parameters) << optimizer;
    EXPECT_EQ(static_cast<SynchronousUpdate&>(*skipping.synchronizer).skipped_steps(), 1);
  }
}

TEST(NonFiniteTest, TooManySkipsInARowAreAnError) {
  Local local(/*skip=*/true);
  const std::vector<Values> bad = {kOnes, {kNan, 1, 1, 1, 1}};
  int64_t step = 0;
  const auto skip = [&](int times) {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(local.Step(++step, bad).ok());
  };
  skip(SynchronousUpdate::kMostSkippedInARow - 1);
  ASSERT_TRUE(local.Step(++step, {kOnes, kOnes}).ok());
  skip(SynchronousUpdate::kMostSkippedInARow - 1);
  const absl::Status status = local.Step(++step, bad).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("100 steps in a row were skipped; the last: step 200: the gradient of "
                        "worker 1"));
}

TEST(NonFiniteTest, OthersAnswerIsAskedForOnlyWhenItMatters) {
  auto owned = std::make_unique<ScriptedCensus>();
  ScriptedCensus* const census = owned.get();
  NonFiniteGradients other;
  NonFiniteGradient& gradient = *other.add_gradients();
  gradient.set_rank(1);
  gradient.set_parameter(1);
  gradient.set_element(2);
  gradient.set_value(kInfinity);
  gradient.set_elements(9);
  census->other = other.SerializeAsString();
  Local local(true, 1, "sgd", std::move(owned));
  ASSERT_TRUE(local.Step(1, {kOnes}).ok());
  EXPECT_TRUE(census->asked.empty());
  EXPECT_EQ(local.Step(2, {{kNan, 1, 1, 1, 1}})->skipped,
            "step 2: the gradient of worker 0 is not finite: nan in a, element 0; 1 element in "
            "all; the gradient of worker 1 is not finite: inf in b, element 2; 9 elements in all");
  census->other = "\xff";
  EXPECT_THAT(std::string(local.Step(3, {{kNan, 1, 1, 1, 1}}).status().message()),
              HasSubstr("worker process 1"));
  EXPECT_EQ(census->asked, (std::vector<int64_t>{2, 3}));
}

TEST(NonFiniteTest, ACensusThatFailsIsTheError) {
  auto census = std::make_unique<ScriptedCensus>();
  census->status = absl::DeadlineExceededError("worker 1 is missing");
  Local local(true, 1, "sgd", std::move(census));
  EXPECT_EQ(local.Step(1, {{kNan, 1, 1, 1, 1}}).status(),
            absl::DeadlineExceededError("worker 1 is missing"));
}

TEST(NonFiniteTest, OnlyWhoIsNotItSuspectsOthers) {
  NonFiniteGradients found;
  found.add_gradients()->set_rank(2);
  EXPECT_TRUE(SuspectsOf(NonFiniteError({2}, found, "line")).empty());
  const std::vector<MemberId> suspects = SuspectsOf(NonFiniteError({0}, found, "line"));
  ASSERT_EQ(suspects.size(), 1u);
  EXPECT_EQ(ToString(suspects[0]), "worker 2");
}

// The others could not be asked.
TEST(NonFiniteTest, WhoKnowsOfItselfAloneSaysSo) {
  const absl::Status unasked =
      WithSuspects(absl::AbortedError("shard 1 was lost"), {WorkerId(0), WorkerId(1), WorkerId(2)});
  const Values sums = {1, 1, 1, 1, kNan};
  NonFiniteGradients found;
  const std::string clean = DescribeNonFinite(Plan(), 7, found, sums, unasked);
  EXPECT_EQ(
      clean,
      "step 7: the sum of all gradients is not finite: nan in b, element 2; this worker's own "
      "is, and no other worker was asked: shard 1 was lost");
  const std::vector<MemberId> suspects = SuspectsOf(NonFiniteError({0}, found, clean, unasked));
  ASSERT_EQ(suspects.size(), 2u);
  EXPECT_EQ(ToString(suspects[0]), "worker 1");
  NonFiniteGradient& own = *found.add_gradients();
  own.set_rank(0);
  own.set_parameter(1);
  own.set_element(2);
  own.set_value(kNan);
  own.set_elements(1);
  EXPECT_THAT(DescribeNonFinite(Plan(), 7, found, sums, unasked),
              ::testing::EndsWith("1 element in all; no other worker was asked: shard 1 was lost"));
  EXPECT_TRUE(SuspectsOf(NonFiniteError({0}, found, "line", unasked)).empty());
}

TEST(NonFiniteTest, InitialParametersAreChecked) {
  auto synchronizer =
      *SynchronousUpdate::Create({Plan(), {0, 1}, {}, *LocalSummer::Create({2, Plan()})});
  Values parameters = {1, 1, 1, 1, kNan};
  EXPECT_EQ(synchronizer->Start(absl::MakeSpan(parameters)),
            absl::DataLossError("the initial parameters, those of worker 0, are not finite: nan in "
                                "b, element 2"));
}

TEST(NonFiniteTest, ABucketIsCheckedByItself) {
  const Values gradients = {1, 1, kInfinity};
  EXPECT_TRUE(CheckBucket(Plan(), {3, 2, 1, absl::MakeConstSpan(gradients).first(2), 1}).ok());
  EXPECT_EQ(CheckBucket(Plan(), {3, 2, 0, gradients, 1}).message(),
            "step 3: the gradient of worker 2 is not finite: inf in b, element 2");
}

}  // namespace
}  // namespace ringside
