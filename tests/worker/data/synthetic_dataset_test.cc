#include "worker/data/synthetic_dataset.h"

#include <algorithm>
#include <map>
#include <set>

#include "tests/worker/data/data_folder.h"

namespace ringside {
namespace {

std::unique_ptr<Dataset> Make(const SampleShape& shape, int64_t samples, int64_t seed = 1,
                              Split split = Split::kTraining) {
  auto dataset = MakeSynthetic(shape, samples, seed, split);
  EXPECT_TRUE(dataset.ok()) << dataset.status();
  return *std::move(dataset);
}

const SampleShape kShapes[] = {SampleShape::Image(2, 8, 9, 3),
                               SampleShape::Segmentation(3, 7, 11, 4),
                               SampleShape::Segmentation(1, 1, 1, 1),
                               SampleShape::Text(10, 7, 3),
                               SampleShape::Text(1, 3, 2),
                               SampleShape::Language(12, 9)};

TEST(SyntheticDatasetTest, ASampleDependsOnSeedSplitAndIndexAlone) {
  for (const SampleShape& shape : kShapes) {
    SCOPED_TRACE(ToString(shape));
    const auto all = *FetchAll(*Make(shape, 20));
    const auto again = *Fetch(*Make(shape, 40), {7, 3});
    const auto part = [](const auto& values, int64_t index, int64_t elements) {
      return std::vector<double>(values.begin() + index * elements,
                                 values.begin() + (index + 1) * elements);
    };
    const bool is_image = shape.input == SampleShape::Input::kImage;
    const int64_t pixels = is_image ? shape.input_elements() : 0;
    const int64_t tokens = is_image ? 0 : shape.length;
    EXPECT_EQ(part(again.images, 0, pixels), part(all.images, 7, pixels));
    EXPECT_EQ(part(again.images, 1, pixels), part(all.images, 3, pixels));
    EXPECT_EQ(part(again.tokens, 1, tokens), part(all.tokens, 3, tokens));
    EXPECT_EQ(part(again.labels, 0, shape.label_elements()),
              part(all.labels, 7, shape.label_elements()));
    for (const auto& other :
         {*FetchAll(*Make(shape, 20, 2)), *FetchAll(*Make(shape, 20, 1, Split::kTest))}) {
      EXPECT_TRUE(is_image ? all.images != other.images : all.tokens != other.tokens);
    }
  }
}

TEST(SyntheticDatasetTest, TokensAndLabelsAreInRange) {
  for (const SampleShape& shape : kShapes) {
    SCOPED_TRACE(ToString(shape));
    const auto all = *FetchAll(*Make(shape, 200));
    for (int64_t token : all.tokens) EXPECT_TRUE(token >= 0 && token < shape.vocabulary);
    std::set<int64_t> classes;
    for (int64_t label : all.labels) {
      if (label == shape.ignored_label()) continue;
      EXPECT_TRUE(label >= 0 && label < shape.classes);
      classes.insert(label);
    }
    if (shape.input_elements() > 1) {
      EXPECT_EQ(static_cast<int64_t>(classes.size()), shape.classes);
    }
  }
}

TEST(SyntheticDatasetTest, PaddingIsAtTheEndOnly) {
  const SampleShape shape = SampleShape::Text(10, 50, 2);
  const auto all = *FetchAll(*Make(shape, 100));
  bool any_padding = false;
  for (int64_t begin = 0; begin < 1000; begin += 10) {
    const auto first = all.tokens.begin() + begin;
    const auto padding = std::find(first, first + 10, kPaddingToken);
    EXPECT_GE(padding - first, 5);
    EXPECT_EQ(std::count(padding, first + 10, kPaddingToken), first + 10 - padding);
    any_padding |= padding != first + 10;
  }
  EXPECT_TRUE(any_padding);
}

// The classes differ: the mean of one class in the training set tells those of the test set.
TEST(SyntheticDatasetTest, ImagesCanBeToldApart) {
  const SampleShape shape = SampleShape::Image(3, 16, 16, 4);
  const auto training = *FetchAll(*Make(shape, 200));
  const auto test = *FetchAll(*Make(shape, 100, 1, Split::kTest));
  const int64_t pixels = shape.input_elements();
  std::vector<std::vector<double>> means(4, std::vector<double>(pixels));
  for (int64_t i = 0; i < 200; ++i) {
    for (int64_t k = 0; k < pixels; ++k) {
      means[training.labels[i]][k] += training.images[i * pixels + k] / 50.0;
    }
  }
  int correct = 0;
  for (int64_t i = 0; i < 100; ++i) {
    std::vector<double> scores(4);
    for (int64_t label = 0; label < 4; ++label) {
      for (int64_t k = 0; k < pixels; ++k) {
        scores[label] += means[label][k] * test.images[i * pixels + k];
      }
    }
    correct += std::max_element(scores.begin(), scores.end()) - scores.begin() == test.labels[i];
  }
  EXPECT_GT(correct, 95);
}

TEST(SyntheticDatasetTest, LanguageFollowsARule) {
  const auto all = *FetchAll(*Make(SampleShape::Language(50, 100), 40));
  std::map<int64_t, std::map<int64_t, int>> followers;
  for (size_t i = 0; i < all.tokens.size(); ++i) {
    ++followers[all.tokens[i]][all.labels[i]];
    if (i % 50 != 49) {
      EXPECT_EQ(all.labels[i], all.tokens[i + 1]);
    }
  }
  int predicted = 0;
  for (const auto& [token, counts] : followers) {
    int most = 0;
    for (const auto& [follower, count] : counts) most = std::max(most, count);
    predicted += most;
  }
  EXPECT_GT(predicted, 1300) << "of 2000";
}

TEST(SyntheticDatasetTest, RefusesWhatCannotBeMade) {
  const auto refuse = [](const SampleShape& shape, int64_t samples, const std::string& message) {
    ExpectRefused(MakeSynthetic(shape, samples, 1, Split::kTraining).status(),
                  absl::StatusCode::kInvalidArgument, {message});
  };
  refuse(kShapes[0], 0, "must be at least 1");
  refuse(SampleShape::Segmentation(1, 2, 2, 255), 1, "must be less than 255");
  refuse(SampleShape::Text(4, 3, 3), 1, "a token for each class");
}

}  // namespace
}  // namespace ringside
