// CIFAR-10 in its binary version (https://www.cs.toronto.edu/~kriz/cifar.html): records of one
// label and 3 x 32 x 32 pixels. Pixels are normalised with the channel means and deviations of the
// training set.
#ifndef RINGSIDE_WORKER_DATA_CIFAR10_DATASET_H_
#define RINGSIDE_WORKER_DATA_CIFAR10_DATASET_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/data/dataset.h"

namespace ringside {

// data_batch_1.bin to data_batch_5.bin, or test_batch.bin, each of any number of records.
// NOT_FOUND: a file is missing; says which files the folder should hold. INVALID_ARGUMENT: a file
// is not made of whole records, a label above 9.
absl::StatusOr<std::unique_ptr<Dataset>> LoadCifar10(const std::string& folder, Split split);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_CIFAR10_DATASET_H_
