#include "worker/models/batch.h"

#include <gtest/gtest.h>

#include <set>

#include "worker/models/dropout_seed.h"

namespace ringside {
namespace {

TEST(SampleShapeTest, CountsInputsAndLabels) {
  const SampleShape image = SampleShape::Image(3, 4, 5, 10);
  EXPECT_EQ(image.input_elements(), 60);
  EXPECT_EQ(image.label_elements(), 1);
  EXPECT_EQ(ToString(image), "images of 3x4x5 with a label a sample");
  const SampleShape pixels = SampleShape::Segmentation(3, 4, 5, 21);
  EXPECT_EQ(pixels.label_elements(), 20);
  EXPECT_EQ(pixels.ignored_label(), 255);
  const SampleShape text = SampleShape::Text(8, 100, 2);
  EXPECT_EQ(text.input_elements(), 8);
  EXPECT_EQ(text.label_elements(), 1);
  const SampleShape language = SampleShape::Language(8, 300);
  EXPECT_EQ(language.label_elements(), 8);
  EXPECT_EQ(language.classes, 300);
  EXPECT_EQ(language.ignored_label(), -1) << "255 is a token";
  EXPECT_EQ(ToString(language), "sequences of 8 tokens with a label a token");
}

TEST(BatchTest, CountsSamples) {
  const std::vector<int64_t> labels(12);
  Batch batch;
  batch.labels = labels;
  EXPECT_EQ(batch.size(), 12);
  batch.labels_per_sample = 4;
  EXPECT_EQ(batch.size(), 3);
}

TEST(EvaluationSumsTest, AddUp) {
  EvaluationSums total;
  total.Add({1, 2, 3.5, 4, 5.5, {1, 2}, {3, 4}});
  total.Add({10, 20, 30, 40, 50, {10, 20}, {30, 40}});
  total.Add({});
  EXPECT_EQ(total.correct, 11);
  EXPECT_EQ(total.samples, 22);
  EXPECT_EQ(total.loss, 33.5);
  EXPECT_EQ(total.labels, 44);
  EXPECT_EQ(total.label_loss, 55.5);
  EXPECT_EQ(total.intersections, (std::vector<int64_t>{11, 22}));
  EXPECT_EQ(total.unions, (std::vector<int64_t>{33, 44}));
}

TEST(DropoutSeedTest, EveryCoordinateCounts) {
  std::set<uint64_t> seeds;
  for (int64_t seed = 0; seed < 5; ++seed) {
    for (int rank = 0; rank < 5; ++rank) {
      for (int64_t step = 0; step < 5; ++step) {
        for (int64_t micro = 0; micro < 5; ++micro) {
          seeds.insert(DropoutSeed(seed, rank, step, micro));
        }
      }
    }
  }
  EXPECT_EQ(seeds.size(), 625u);
}

TEST(DropoutSeedTest, BitsAreThoseOfSplitMix64) {
  // The first numbers of the published generator seeded with 0.
  EXPECT_EQ(RandomBits(0, 0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(RandomBits(0, 1), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(RandomBits(0, 2), 0x06c45d188009454fu);
}

}  // namespace
}  // namespace ringside
