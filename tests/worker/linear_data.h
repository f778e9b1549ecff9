// What the linear model learns: four pixels that grow with the label.
#ifndef RINGSIDE_TESTS_WORKER_LINEAR_DATA_H_
#define RINGSIDE_TESTS_WORKER_LINEAR_DATA_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "worker/data/mnist_dataset.h"

namespace ringside {

constexpr int64_t kLinearPixels = 4;

inline std::unique_ptr<const Dataset> MakeLinearDataset(int64_t samples) {
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> labels;
  for (int64_t i = 0; i < samples; ++i) {
    labels.push_back(static_cast<uint8_t>(i % 10));
    for (int64_t k = 0; k < kLinearPixels; ++k)
      pixels.push_back(static_cast<uint8_t>(25 * (i % 10) + k));
  }
  auto dataset = MakeMnist("test", 2, 2, std::move(pixels), std::move(labels));
  EXPECT_TRUE(dataset.ok()) << dataset.status();
  return *std::move(dataset);
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_WORKER_LINEAR_DATA_H_
