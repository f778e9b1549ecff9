#include "worker/data/mnist_dataset.h"

#include <unistd.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/data/byte_image_dataset.h"
#include "worker/data/idx_reader.h"

namespace ringside {
namespace {

constexpr int64_t kExtent = 28;
constexpr int64_t kClasses = 10;
// Of all pixels of MNIST's training set, scaled to [0, 1]; its subset uses the same, so that models
// are comparable.
constexpr float kMean = 0.1307f;
constexpr float kDeviation = 0.3081f;

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

absl::StatusOr<std::unique_ptr<Dataset>> MakeMnist(const std::string& name, int64_t rows,
                                                   int64_t columns, std::vector<uint8_t> pixels,
                                                   std::vector<uint8_t> labels) {
  return ByteImageDataset::Create(name, SampleShape::Image(1, rows, columns, kClasses),
                                  {{kMean}, {kDeviation}}, std::move(pixels), std::move(labels));
}

absl::StatusOr<std::unique_ptr<Dataset>> LoadMnist(const std::string& folder, Split split) {
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
  if (images.shape[0] > 0 && (images.shape[1] != kExtent || images.shape[2] != kExtent)) {
    return absl::InvalidArgumentError(absl::StrCat(images_path, ": images of ", images.shape[1],
                                                   "x", images.shape[2], ", must be ", kExtent, "x",
                                                   kExtent));
  }
  return MakeMnist(images_path, images.shape[1], images.shape[2], std::move(images.values),
                   std::move(labels.values));
}

}  // namespace ringside
