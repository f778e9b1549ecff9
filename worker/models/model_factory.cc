#include "worker/models/model_factory.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "worker/models/deeplab.h"
#include "worker/models/gpt.h"
#include "worker/models/lenet.h"
#include "worker/models/mlp.h"
#include "worker/models/model_arguments.h"
#include "worker/models/resnet.h"
#include "worker/models/torch_model.h"
#include "worker/models/transformer.h"
#include "worker/models/vgg.h"

namespace ringside {
namespace {

using Input = SampleShape::Input;
using Labels = SampleShape::Labels;
using NetworkOr = absl::StatusOr<std::shared_ptr<Network>>;

absl::Status Unfit(const ModelConfig& config, absl::string_view needs) {
  return absl::InvalidArgumentError(absl::StrCat("--model=", config.name, ": needs ", needs,
                                                 ", and the data is ", ToString(config.sample)));
}

absl::Status RequireImages(const ModelConfig& config, int64_t least_extent = 1) {
  const SampleShape& sample = config.sample;
  if (sample.input != Input::kImage || sample.labels != Labels::kPerSample) {
    return Unfit(config, "images with a label a sample");
  }
  if (std::min(sample.rows, sample.columns) < least_extent) {
    return Unfit(config, absl::StrCat("images of at least ", least_extent, "x", least_extent));
  }
  return absl::OkStatus();
}

absl::Status RequireChannels(const ModelConfig& config, int64_t channels) {
  if (config.sample.channels == 1 || config.sample.channels == channels) return absl::OkStatus();
  return Unfit(config, absl::StrCat("grey images or ones of ", channels, " channels"));
}

NetworkOr MakeMlpNetwork(const ModelConfig& config) {
  RINGSIDE_RETURN_IF_ERROR(RequireImages(config));
  std::vector<int64_t> hidden = config.hidden;
  int64_t classes = config.sample.classes;
  ModelArguments arguments(config.name, config.arguments);
  arguments.Integers("hidden", 1, &hidden);
  arguments.Integer("classes", classes, &classes);
  RINGSIDE_RETURN_IF_ERROR(arguments.Finish());
  return std::make_shared<SequentialNetwork>(
      MakeMlp(config.sample.input_elements(), hidden, classes));
}

NetworkOr MakeLenetNetwork(const ModelConfig& config) {
  RINGSIDE_RETURN_IF_ERROR(RequireImages(config, kLenetLeastExtent));
  int64_t classes = config.sample.classes;
  ModelArguments arguments(config.name, config.arguments);
  arguments.Integer("classes", classes, &classes);
  RINGSIDE_RETURN_IF_ERROR(arguments.Finish());
  return std::make_shared<SequentialNetwork>(
      MakeLenet(config.sample.channels, config.sample.rows, config.sample.columns, classes));
}

NetworkOr MakeResnet(const ModelConfig& config, const ResnetLayout& layout) {
  RINGSIDE_RETURN_IF_ERROR(RequireImages(config));
  int64_t classes = config.sample.classes;
  int64_t channels = config.sample.channels;
  ModelArguments arguments(config.name, config.arguments);
  arguments.Integer("classes", classes, &classes);
  arguments.Integer("channels", 1, &channels);
  RINGSIDE_RETURN_IF_ERROR(arguments.Finish());
  RINGSIDE_RETURN_IF_ERROR(RequireChannels(config, channels));
  return std::make_shared<Resnet>(layout, channels, classes);
}

NetworkOr MakeResnet18(const ModelConfig& config) { return MakeResnet(config, kResnet18); }
NetworkOr MakeResnet50(const ModelConfig& config) { return MakeResnet(config, kResnet50); }
NetworkOr MakeResnet101(const ModelConfig& config) { return MakeResnet(config, kResnet101); }

NetworkOr MakeVgg16(const ModelConfig& config) {
  RINGSIDE_RETURN_IF_ERROR(RequireImages(config, kVggLeastExtent));
  int64_t classes = config.sample.classes;
  int64_t channels = config.sample.channels;
  int64_t hidden = 4096;
  double dropout = 0.5;
  ModelArguments arguments(config.name, config.arguments);
  arguments.Integer("classes", classes, &classes);
  arguments.Integer("channels", 1, &channels);
  arguments.Integer("hidden", 1, &hidden);
  arguments.Probability("dropout", &dropout);
  RINGSIDE_RETURN_IF_ERROR(arguments.Finish());
  RINGSIDE_RETURN_IF_ERROR(RequireChannels(config, channels));
  return std::make_shared<Vgg16>(channels, classes, hidden, dropout);
}

NetworkOr MakeDeeplabv3Resnet101(const ModelConfig& config) {
  if (config.sample.input != Input::kImage || config.sample.labels != Labels::kPerPixel) {
    return Unfit(config, "images with a label a pixel");
  }
  int64_t classes = config.sample.classes;
  int64_t channels = config.sample.channels;
  double dropout = 0.5;
  ModelArguments arguments(config.name, config.arguments);
  arguments.Integer("classes", classes, &classes);
  arguments.Integer("channels", 1, &channels);
  arguments.Probability("dropout", &dropout);
  RINGSIDE_RETURN_IF_ERROR(arguments.Finish());
  RINGSIDE_RETURN_IF_ERROR(RequireChannels(config, channels));
  if (classes > kIgnoredPixel) {
    return absl::InvalidArgumentError(absl::StrCat("--model=", config.name, ": ", classes,
                                                   " classes, and the label ", kIgnoredPixel,
                                                   " is that of pixels that do not count"));
  }
  return std::make_shared<Deeplab>(kResnet101, channels, classes, dropout);
}

// Reads the arguments that encoder and decoder share; `size` holds the defaults.
absl::Status ReadTransformerSize(const ModelConfig& config, ModelArguments* arguments,
                                 TransformerSize* size) {
  size->vocabulary = config.sample.vocabulary;
  size->sequence = config.sample.length;
  size->dropout = 0.1;
  arguments->Integer("layers", 1, &size->layers);
  arguments->Integer("width", 1, &size->width);
  arguments->Integer("heads", 1, &size->heads);
  size->feedforward = 4 * size->width;
  arguments->Integer("feedforward", 1, &size->feedforward);
  arguments->Integer("vocabulary", size->vocabulary, &size->vocabulary);
  arguments->Integer("sequence", size->sequence, &size->sequence);
  arguments->Probability("dropout", &size->dropout);
  RINGSIDE_RETURN_IF_ERROR(arguments->Finish());
  if (size->width % size->heads == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--model_args=width=", size->width,
                                                 ": must be a multiple of heads=", size->heads,
                                                 " of --model=", config.name));
}

NetworkOr MakeTransformer(const ModelConfig& config) {
  if (config.sample.input != Input::kTokens || config.sample.labels != Labels::kPerSample) {
    return Unfit(config, "sequences with a label a sample");
  }
  TransformerSize size;
  size.layers = 4;
  size.width = 256;
  size.heads = 4;
  int64_t classes = config.sample.classes;
  ModelArguments arguments(config.name, config.arguments);
  arguments.Integer("classes", classes, &classes);
  RINGSIDE_RETURN_IF_ERROR(ReadTransformerSize(config, &arguments, &size));
  return std::make_shared<TransformerClassifier>(size, classes);
}

NetworkOr MakeGpt(const ModelConfig& config) {
  if (config.sample.input != Input::kTokens || config.sample.labels != Labels::kPerToken) {
    return Unfit(config, "sequences with a label a token");
  }
  TransformerSize size;  // GPT-2's
  size.layers = 12;
  size.width = 768;
  size.heads = 12;
  ModelArguments arguments(config.name, config.arguments);
  RINGSIDE_RETURN_IF_ERROR(ReadTransformerSize(config, &arguments, &size));
  return std::make_shared<Gpt>(size);
}

struct Maker {
  const char* name;
  NetworkOr (*make)(const ModelConfig& config);
};

constexpr Maker kMakers[] = {
    {"mlp", MakeMlpNetwork},
    {"lenet", MakeLenetNetwork},
    {"resnet18", MakeResnet18},
    {"resnet50", MakeResnet50},
    {"resnet101", MakeResnet101},
    {"vgg16", MakeVgg16},
    {"deeplabv3_resnet101", MakeDeeplabv3Resnet101},
    {"transformer", MakeTransformer},
    {"gpt", MakeGpt},
};

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> CreateModel(const ModelConfig& config) {
  const auto maker = std::find_if(std::begin(kMakers), std::end(kMakers),
                                  [&](const Maker& each) { return each.name == config.name; });
  if (maker == std::end(kMakers)) {
    const auto append_name = [](std::string* out, const Maker& each) { out->append(each.name); };
    return absl::InvalidArgumentError(absl::StrCat("--model=", config.name, ": must be one of ",
                                                   absl::StrJoin(kMakers, ", ", append_name)));
  }
  try {
    RINGSIDE_ASSIGN_OR_RETURN(std::shared_ptr<Network> network, maker->make(config));
    return std::make_unique<TorchModel>(std::move(network), config.sample, config.seed,
                                        config.precision);
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("--model=", config.name, ": ", error.what()));
  }
}

}  // namespace ringside
