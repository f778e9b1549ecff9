#include "worker/data/dataset.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "worker/data/idx_reader.h"

namespace ringside {
namespace {

constexpr int64_t kMnistExtent = 28;
// Of all pixels of MNIST's training set, scaled to [0, 1]; its subset uses the same, so that models
// are comparable.
constexpr float kMean = 0.1307f;
constexpr float kDeviation = 0.3081f;

std::array<float, 256> MakeNormalised() {
  std::array<float, 256> table = {};
  for (int value = 0; value < 256; ++value) {
    table[value] = (static_cast<float>(value) / 255.0f - kMean) / kDeviation;
  }
  return table;
}

// The plain file where there is one, else the compressed one. NOT_FOUND names the layout.
absl::StatusOr<std::string> FindFile(const std::string& folder, const std::string& name) {
  const std::string plain = absl::StrCat(folder, "/", name);
  for (const std::string& path : {plain, absl::StrCat(plain, ".gz")}) {
    if (access(path.c_str(), F_OK) == 0) return path;
  }
  return absl::NotFoundError(
      absl::StrCat("--data_dir=", folder, ": has neither ", name, " nor ", name,
                   ".gz; it must hold train-images-idx3-ubyte, train-labels-idx1-ubyte, "
                   "t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, each plain or with .gz"));
}

}  // namespace

absl::StatusOr<Dataset> Dataset::Create(const std::string& name, int64_t rows, int64_t columns,
                                        std::vector<uint8_t> pixels, std::vector<uint8_t> labels) {
  if (labels.empty() || rows < 1 || columns < 1) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": holds no images"));
  }
  const int64_t images = static_cast<int64_t>(pixels.size()) / (rows * columns);
  if (images * rows * columns != static_cast<int64_t>(pixels.size()) ||
      images != static_cast<int64_t>(labels.size())) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", images, " images but ",
                                                   labels.size(),
                                                   " labels; there must be one label an image"));
  }
  const auto wrong =
      std::find_if(labels.begin(), labels.end(), [](uint8_t label) { return label >= kClasses; });
  if (wrong != labels.end()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": label ", static_cast<int>(*wrong),
                                                   " of image ", wrong - labels.begin(),
                                                   "; labels go from 0 to ", kClasses - 1));
  }
  Dataset dataset;
  dataset.rows_ = rows;
  dataset.columns_ = columns;
  dataset.pixels_ = std::move(pixels);
  dataset.labels_ = std::move(labels);
  return dataset;
}

absl::StatusOr<Dataset> Dataset::LoadMnist(const std::string& folder, Split split) {
  const std::string prefix = split == Split::kTraining ? "train" : "t10k";
  RINGSIDE_ASSIGN_OR_RETURN(const std::string images_path,
                            FindFile(folder, prefix + "-images-idx3-ubyte"));
  RINGSIDE_ASSIGN_OR_RETURN(const std::string labels_path,
                            FindFile(folder, prefix + "-labels-idx1-ubyte"));
  RINGSIDE_ASSIGN_OR_RETURN(IdxArray images, ReadIdxBytes(images_path, 3));
  RINGSIDE_ASSIGN_OR_RETURN(IdxArray labels, ReadIdxBytes(labels_path, 1));
  if (images.shape[0] != labels.shape[0]) {
    return absl::InvalidArgumentError(absl::StrCat(images_path, " has ", images.shape[0],
                                                   " images but ", labels_path, " has ",
                                                   labels.shape[0], " labels"));
  }
  if (images.shape[0] > 0 && (images.shape[1] != kMnistExtent || images.shape[2] != kMnistExtent)) {
    return absl::InvalidArgumentError(absl::StrCat(images_path, ": images of ", images.shape[1],
                                                   "x", images.shape[2], ", must be ", kMnistExtent,
                                                   "x", kMnistExtent));
  }
  return Create(images_path, images.shape[1], images.shape[2], std::move(images.values),
                std::move(labels.values));
}

void Dataset::Fetch(absl::Span<const uint32_t> indices, absl::Span<float> images,
                    absl::Span<int64_t> labels) const {
  static const std::array<float, 256> normalised = MakeNormalised();
  const int64_t elements = image_elements();
  RINGSIDE_CHECK(images.size() == indices.size() * elements && labels.size() == indices.size());
  float* out = images.data();
  for (size_t i = 0; i < indices.size(); ++i) {
    RINGSIDE_CHECK(indices[i] < labels_.size());
    const uint8_t* pixels = pixels_.data() + static_cast<int64_t>(indices[i]) * elements;
    for (int64_t k = 0; k < elements; ++k) *out++ = normalised[pixels[k]];
    labels[i] = labels_[indices[i]];
  }
}

}  // namespace ringside
