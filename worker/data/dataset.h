// A labelled set of images, held in memory as bytes and turned into normalised floats a batch at a
// time.
//
// Immutable after loading, so safe to share between threads.
#ifndef RINGSIDE_WORKER_DATA_DATASET_H_
#define RINGSIDE_WORKER_DATA_DATASET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace ringside {

enum class Split { kTraining, kTest };

class Dataset {
 public:
  static constexpr int64_t kClasses = 10;

  // MNIST under its own file names (train-images-idx3-ubyte, ..., with or without .gz), the full
  // set or any subset. NOT_FOUND: a file is missing; says which files the folder should hold.
  // INVALID_ARGUMENT: a file cannot be read as what it should be, no images, images that are not
  // 28x28, a label count that differs from the image count, a label above 9.
  static absl::StatusOr<Dataset> LoadMnist(const std::string& folder, Split split);
  // From memory; the same checks, but for the size of the images. `name` appears in errors.
  static absl::StatusOr<Dataset> Create(const std::string& name, int64_t rows, int64_t columns,
                                        std::vector<uint8_t> pixels, std::vector<uint8_t> labels);

  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t image_elements() const { return rows_ * columns_; }

  // Writes the images at `indices`, one after another, as (pixel / 255 - mean) / deviation with
  // MNIST's mean and standard deviation, and their labels. `images` has indices.size() *
  // image_elements(), `labels` indices.size() elements.
  void Fetch(absl::Span<const uint32_t> indices, absl::Span<float> images,
             absl::Span<int64_t> labels) const;

 private:
  Dataset() = default;

  int64_t rows_ = 0;
  int64_t columns_ = 0;
  std::vector<uint8_t> pixels_;
  std::vector<uint8_t> labels_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_DATASET_H_
