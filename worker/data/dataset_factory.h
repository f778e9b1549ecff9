// Loads the data set that --dataset names; the only switch on it.
//
// What --data_dir holds, and what --dataset_args may tell with its default:
//
//   mnist         train-images-idx3-ubyte, ...: none
//   cifar10       data_batch_1.bin, ...: none
//   image_folder  train/<class>/, test/<class>/: rows=224, columns=224
//   voc           JPEGImages/, SegmentationClass/, ImageSets/Segmentation/: rows=224, columns=224
//   imdb          train/{pos,neg}/*.txt, test/{pos,neg}/*.txt: length=256, vocabulary=20000
//   text          train.txt, test.txt: length=128
//   synthetic     needs no files. samples=1024, test_samples=256, and by what --model is trained on
//       images             channels=3, rows=32, columns=32, classes=10
//       a label a pixel    channels=3, rows=64, columns=64, classes=21
//       a label a text     length=128, vocabulary=1000, classes=2
//       language           length=128, vocabulary=256
#ifndef RINGSIDE_WORKER_DATA_DATASET_FACTORY_H_
#define RINGSIDE_WORKER_DATA_DATASET_FACTORY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "worker/data/dataset.h"

namespace ringside {

struct DatasetConfig {
  std::string name = "mnist";  // --dataset
  std::string folder;          // --data_dir
  std::string arguments;       // --dataset_args
  std::string model = "mlp";   // --model: what kind of synthetic samples it needs
  int64_t seed = 1;            // of synthetic samples
  bool with_test = true;
  bool makes_for_all = true;  // this process is rank 0, or alone
};

// What rank 0 makes of its files for all ranks, so that they agree whatever files the others have.
struct SharedData {
  std::string name;  // e.g. "vocabulary"
  std::string made;  // on rank 0
  // On the others: takes what rank 0 made. Once, before the first Fetch of any split and while both
  // exist. INVALID_ARGUMENT: it is not what it should be.
  std::function<absl::Status(const std::string& made)> take;
};

struct Datasets {
  std::unique_ptr<const Dataset> training;
  std::unique_ptr<const Dataset> test;  // null: not asked for
  // What rank 0 made of files and must be the same in a run that goes on from a checkpoint, beside
  // the number of samples.
  std::map<std::string, std::string> shared_settings;
  absl::optional<SharedData> shared_data;
};

// NOT_FOUND: a file is missing; says what the layout is. INVALID_ARGUMENT: an unknown name, a bad
// argument, a file that is not what it should be.
absl::StatusOr<Datasets> LoadDatasets(const DatasetConfig& config);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_DATASET_FACTORY_H_
