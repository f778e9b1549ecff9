#include "worker/data/dataset_factory.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/key_value_arguments.h"
#include "common/status_macros.h"
#include "worker/data/cifar10_dataset.h"
#include "worker/data/image_folder_dataset.h"
#include "worker/data/imdb_dataset.h"
#include "worker/data/mnist_dataset.h"
#include "worker/data/synthetic_dataset.h"
#include "worker/data/text_dataset.h"
#include "worker/data/voc_dataset.h"
#include "worker/data/word_vocabulary.h"

namespace ringside {
namespace {

using DatasetOr = absl::StatusOr<std::unique_ptr<Dataset>>;

// A slip of the keyboard must not bring a machine down.
constexpr int64_t kMostElements = int64_t{1} << 28;

KeyValueArguments ArgumentsOf(const DatasetConfig& config) {
  return KeyValueArguments("dataset_args", absl::StrCat("--dataset=", config.name),
                           config.arguments);
}

absl::Status CheckElements(const DatasetConfig& config, std::initializer_list<int64_t> extents) {
  int64_t elements = 1;
  for (int64_t extent : extents) {
    if (extent <= kMostElements / elements) {
      elements *= extent;
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat("--dataset_args=", config.arguments,
                                                   ": samples of ", absl::StrJoin(extents, "x"),
                                                   " elements; must have at most ", kMostElements));
  }
  return absl::OkStatus();
}

// Loads each split that is wanted.
absl::StatusOr<Datasets> LoadSplits(const DatasetConfig& config,
                                    const std::function<DatasetOr(Split)>& load) {
  Datasets datasets;
  RINGSIDE_ASSIGN_OR_RETURN(datasets.training, load(Split::kTraining));
  if (config.with_test) {
    RINGSIDE_ASSIGN_OR_RETURN(datasets.test, load(Split::kTest));
  }
  return datasets;
}

absl::StatusOr<Datasets> Mnist(const DatasetConfig& config) {
  RINGSIDE_RETURN_IF_ERROR(ArgumentsOf(config).Finish());
  return LoadSplits(config, [&](Split split) { return LoadMnist(config.folder, split); });
}

absl::StatusOr<Datasets> Cifar10(const DatasetConfig& config) {
  RINGSIDE_RETURN_IF_ERROR(ArgumentsOf(config).Finish());
  return LoadSplits(config, [&](Split split) { return LoadCifar10(config.folder, split); });
}

using PhotographLoader = DatasetOr (*)(const std::string& folder, Split split, int64_t rows,
                                       int64_t columns);

absl::StatusOr<Datasets> Photographs(const DatasetConfig& config, PhotographLoader load) {
  int64_t rows = 224;
  int64_t columns = 224;
  KeyValueArguments arguments = ArgumentsOf(config);
  arguments.Integer("rows", 1, &rows);
  arguments.Integer("columns", 1, &columns);
  RINGSIDE_RETURN_IF_ERROR(arguments.Finish());
  RINGSIDE_RETURN_IF_ERROR(CheckElements(config, {3, rows, columns}));
  return LoadSplits(config, [&](Split split) { return load(config.folder, split, rows, columns); });
}

absl::StatusOr<Datasets> ImageFolder(const DatasetConfig& config) {
  return Photographs(config, ImageFolderDataset::Load);
}

absl::StatusOr<Datasets> Voc(const DatasetConfig& config) {
  return Photographs(config, VocDataset::Load);
}

absl::StatusOr<Datasets> Imdb(const DatasetConfig& config) {
  int64_t length = 256;
  int64_t size = 20000;
  KeyValueArguments arguments = ArgumentsOf(config);
  arguments.Integer("length", 1, &length);
  arguments.Integer("vocabulary", WordVocabulary::kFirstWord, &size);
  RINGSIDE_RETURN_IF_ERROR(arguments.Finish());
  RINGSIDE_RETURN_IF_ERROR(CheckElements(config, {length}));
  RINGSIDE_RETURN_IF_ERROR(CheckElements(config, {size}));
  std::vector<ImdbDataset*> splits;
  RINGSIDE_ASSIGN_OR_RETURN(Datasets datasets, LoadSplits(config, [&](Split split) -> DatasetOr {
                              RINGSIDE_ASSIGN_OR_RETURN(
                                  std::unique_ptr<ImdbDataset> made,
                                  ImdbDataset::Load(config.folder, split, size, length));
                              splits.push_back(made.get());
                              return DatasetOr(std::move(made));
                            }));
  SharedData& shared = datasets.shared_data.emplace();
  shared.name = "vocabulary";
  shared.take = [splits, size](const std::string& made) {
    RINGSIDE_ASSIGN_OR_RETURN(const WordVocabulary vocabulary, WordVocabulary::Decode(made, size));
    for (ImdbDataset* split : splits) split->Translate(vocabulary);
    return absl::OkStatus();
  };
  if (config.makes_for_all) {
    const WordVocabulary vocabulary = splits.front()->BuildVocabulary();
    shared.made = vocabulary.Encode();
    for (ImdbDataset* split : splits) split->Translate(vocabulary);
    datasets.shared_settings["vocabulary_sha256"] = vocabulary.hash();
  }
  return datasets;
}

absl::StatusOr<Datasets> Text(const DatasetConfig& config) {
  int64_t length = 128;
  KeyValueArguments arguments = ArgumentsOf(config);
  arguments.Integer("length", 1, &length);
  RINGSIDE_RETURN_IF_ERROR(arguments.Finish());
  RINGSIDE_RETURN_IF_ERROR(CheckElements(config, {length}));
  return LoadSplits(config,
                    [&](Split split) { return TextDataset::Load(config.folder, split, length); });
}

absl::Status ReadImageSize(KeyValueArguments* arguments, SampleShape* shape) {
  arguments->Integer("channels", 1, &shape->channels);
  arguments->Integer("rows", 1, &shape->rows);
  arguments->Integer("columns", 1, &shape->columns);
  arguments->Integer("classes", 1, &shape->classes);
  return arguments->Finish();
}

absl::StatusOr<SampleShape> SyntheticShape(const DatasetConfig& config,
                                           KeyValueArguments* arguments) {
  if (config.model == "transformer" || config.model == "gpt") {
    int64_t length = 128;
    int64_t vocabulary = config.model == "gpt" ? 256 : 1000;
    int64_t classes = 2;
    arguments->Integer("length", 1, &length);
    arguments->Integer("vocabulary", 2, &vocabulary);
    if (config.model == "transformer") arguments->Integer("classes", 1, &classes);
    RINGSIDE_RETURN_IF_ERROR(arguments->Finish());
    RINGSIDE_RETURN_IF_ERROR(CheckElements(config, {length}));
    return config.model == "gpt" ? SampleShape::Language(length, vocabulary)
                                 : SampleShape::Text(length, vocabulary, classes);
  }
  SampleShape shape = config.model == "deeplabv3_resnet101"
                          ? SampleShape::Segmentation(3, 64, 64, 21)
                          : SampleShape::Image(3, 32, 32, 10);
  RINGSIDE_RETURN_IF_ERROR(ReadImageSize(arguments, &shape));
  RINGSIDE_RETURN_IF_ERROR(CheckElements(config, {shape.channels, shape.rows, shape.columns}));
  return shape;
}

absl::StatusOr<Datasets> Synthetic(const DatasetConfig& config) {
  int64_t samples = 1024;
  int64_t test_samples = 256;
  KeyValueArguments arguments = ArgumentsOf(config);
  arguments.Integer("samples", 1, &samples);
  arguments.Integer("test_samples", 1, &test_samples);
  RINGSIDE_ASSIGN_OR_RETURN(const SampleShape shape, SyntheticShape(config, &arguments));
  return LoadSplits(config, [&](Split split) {
    return MakeSynthetic(shape, split == Split::kTraining ? samples : test_samples, config.seed,
                         split);
  });
}

struct Loader {
  const char* name;
  absl::StatusOr<Datasets> (*load)(const DatasetConfig& config);
};

constexpr Loader kLoaders[] = {
    {"mnist", Mnist}, {"cifar10", Cifar10}, {"image_folder", ImageFolder}, {"voc", Voc},
    {"imdb", Imdb},   {"text", Text},       {"synthetic", Synthetic},
};

}  // namespace

absl::StatusOr<Datasets> LoadDatasets(const DatasetConfig& config) {
  const auto loader = std::find_if(std::begin(kLoaders), std::end(kLoaders),
                                   [&](const Loader& each) { return each.name == config.name; });
  if (loader != std::end(kLoaders)) return loader->load(config);
  const auto append_name = [](std::string* out, const Loader& each) { out->append(each.name); };
  return absl::InvalidArgumentError(absl::StrCat("--dataset=", config.name, ": must be one of ",
                                                 absl::StrJoin(kLoaders, ", ", append_name)));
}

}  // namespace ringside
