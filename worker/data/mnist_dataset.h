// MNIST under its own file names, the full set or any subset: train-images-idx3-ubyte, ..., each
// plain or with .gz. Pixels are normalised with the mean and deviation of MNIST's training set.
#ifndef RINGSIDE_WORKER_DATA_MNIST_DATASET_H_
#define RINGSIDE_WORKER_DATA_MNIST_DATASET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/dataset.h"

namespace ringside {

// NOT_FOUND: a file is missing; says which files the folder should hold. INVALID_ARGUMENT: a file
// cannot be read as what it should be, no images, images that are not 28x28, a label count that
// differs from the image count, a label above 9.
absl::StatusOr<std::unique_ptr<Dataset>> LoadMnist(const std::string& folder, Split split);

// From memory; the same checks, but for the size of the images. `name` appears in errors.
absl::StatusOr<std::unique_ptr<Dataset>> MakeMnist(const std::string& name, int64_t rows,
                                                   int64_t columns, std::vector<uint8_t> pixels,
                                                   std::vector<uint8_t> labels);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_MNIST_DATASET_H_
