#include "worker/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

#include <algorithm>
#include <vector>

#include "common/element_range.h"
#include "tests/worker/linear_data.h"
#include "tests/worker/linear_model.h"

namespace ringside {
namespace {

TEST(EvaluationTest, RangesAddUpToTheWhole) {
  const auto dataset = MakeLinearDataset(777);
  LinearModel model(kLinearPixels);
  std::vector<float> parameters(kLinearPixels + 1), gradients(kLinearPixels + 1);
  ASSERT_TRUE(model.Bind(absl::MakeSpan(parameters), absl::MakeSpan(gradients), nullptr).ok());
  const auto whole = EvaluateRange(&model, *dataset, {0, 777});
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->samples, 777);
  EvaluationSums total;
  for (int rank = 0; rank < 4; ++rank) {
    const auto part = EvaluateRange(&model, *dataset, Part({0, 777}, 4, rank));
    ASSERT_TRUE(part.ok());
    total.Add(*part);
  }
  EXPECT_EQ(total.samples, 777);
  EXPECT_EQ(total.correct, whole->correct);
  EXPECT_NEAR(total.loss, whole->loss, 1e-6 * whole->loss);
  EXPECT_EQ(EvaluateRange(&model, *dataset, {5, 0})->samples, 0);
}

// Small, but with more classes than a batch of it could be scored for.
class ManyClasses final : public Dataset {
 public:
  explicit ManyClasses(int64_t classes) : Dataset(600, SampleShape::Image(1, 2, 2, classes)) {}

 private:
  absl::Status FetchSample(int64_t index, const SampleSpans& out) const override {
    std::fill(out.images.begin(), out.images.end(), 0.0f);
    out.labels[0] = index;
    return absl::OkStatus();
  }
};

TEST(EvaluationTest, BatchesAreSmallWhereSamplesOrScoresAreLarge) {
  LinearModel model(kLinearPixels);
  std::vector<float> parameters(kLinearPixels + 1), gradients(kLinearPixels + 1);
  ASSERT_TRUE(model.Bind(absl::MakeSpan(parameters), absl::MakeSpan(gradients), nullptr).ok());
  ASSERT_TRUE(EvaluateRange(&model, ManyClasses(10), {0, 600}).ok());
  EXPECT_EQ(model.evaluated, (std::vector<int64_t>{250, 250, 100}));
  model.evaluated.clear();
  ASSERT_TRUE(EvaluateRange(&model, ManyClasses(int64_t{1} << 21), {0, 3}).ok());
  EXPECT_EQ(model.evaluated, (std::vector<int64_t>{2, 1}));
  model.evaluated.clear();
  ASSERT_TRUE(EvaluateRange(&model, ManyClasses(int64_t{1} << 30), {0, 2}).ok());
  EXPECT_EQ(model.evaluated, (std::vector<int64_t>{1, 1}));
}

TEST(EvaluationTest, SegmentationHasAMeanIoUOverTheClassesThatOccur) {
  const SampleShape shape = SampleShape::Segmentation(3, 2, 2, 3);
  EvaluationSums sums;
  sums.correct = 6;
  sums.samples = 2;
  sums.labels = 8;
  sums.loss = 3;
  sums.intersections = {2, 1, 0};
  sums.unions = {4, 4, 0};
  const Evaluation evaluation = EvaluationOf(ToReducible(sums, shape), shape);
  EXPECT_EQ(evaluation.accuracy(), 0.75);
  EXPECT_EQ(evaluation.mean_loss(), 1.5);
  EXPECT_EQ(evaluation.mean_iou(), 0.375);
  EXPECT_EQ(ToReducible({}, shape).integers.size(), ToReducible(sums, shape).integers.size())
      << "a rank that had nothing to evaluate";
}

TEST(EvaluationTest, ALanguageModelHasAPerplexityOverItsTokens) {
  const SampleShape shape = SampleShape::Language(4, 10);
  EvaluationSums sums;
  sums.samples = 2;
  sums.labels = 4;
  sums.label_loss = 4 * std::log(7.0);
  const Evaluation evaluation = EvaluationOf(ToReducible(sums, shape), shape);
  EXPECT_NEAR(evaluation.perplexity(), 7, 1e-12);
  EXPECT_EQ(evaluation.mean_iou(), 0);
}

}  // namespace
}  // namespace ringside
