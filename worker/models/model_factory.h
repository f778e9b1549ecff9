// Makes the model that --model names; the only switch on it. No LibTorch type in sight.
#ifndef RINGSIDE_WORKER_MODELS_MODEL_FACTORY_H_
#define RINGSIDE_WORKER_MODELS_MODEL_FACTORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/models/model.h"
#include "worker/models/precision.h"

namespace ringside {

// What models are there, of which data, and what --model_args may hold:
//
//   mlp                   images      hidden, classes
//   lenet                 images      classes
//   resnet18, 50, 101     images      classes, channels
//   vgg16                 images      classes, channels, hidden, dropout
//   deeplabv3_resnet101   images with a label a pixel: classes, channels, dropout
//   transformer           sequences with one label: layers, width, heads, feedforward, vocabulary,
//                         sequence, classes, dropout
//   gpt                   sequences with a label a token: the same without classes
//
// classes, channels, vocabulary and sequence are those of the data unless given. More classes, a
// larger vocabulary, a longer sequence may be given, fewer not; `channels` may be any number where
// images are grey, which are then repeated.
struct ModelConfig {
  std::string name = "mlp";
  std::string arguments;                     // --model_args
  std::vector<int64_t> hidden = {256, 128};  // of the mlp, unless the arguments tell; may be empty
  SampleShape sample;                        // of the data
  int64_t seed = 1;                          // of the initial parameters
  Precision precision = Precision::kFloat32;
};

// INVALID_ARGUMENT: an unknown name, arguments that the model does not take, data that it cannot be
// trained on. INTERNAL: what LibTorch threw.
absl::StatusOr<std::unique_ptr<Model>> CreateModel(const ModelConfig& config);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_MODEL_FACTORY_H_
