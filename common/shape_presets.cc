#include "common/shape_presets.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ringside {
namespace {

using Shapes = std::vector<ParameterSpec>;

class ShapeList {
 public:
  void Weight(absl::string_view layer, std::vector<int64_t> shape) {
    shapes_.push_back({absl::StrCat(layer, ".weight"), std::move(shape), "float32"});
  }
  void Bias(absl::string_view layer, int64_t width) {
    shapes_.push_back({absl::StrCat(layer, ".bias"), {width}, "float32"});
  }
  // A square kernel, as all of these have; without a bias.
  void Convolution(absl::string_view layer, int64_t out, int64_t in, int64_t kernel) {
    Weight(layer, {out, in, kernel, kernel});
  }
  void Norm(absl::string_view layer, int64_t width) {
    Weight(layer, {width});
    Bias(layer, width);
  }
  void Linear(absl::string_view layer, int64_t out, int64_t in) {
    Weight(layer, {out, in});
    Bias(layer, out);
  }

  Shapes Take() { return std::move(shapes_); }

 private:
  Shapes shapes_;
};

// He et al. 2015, "Deep Residual Learning for Image Recognition", table 1.
struct ResNet {
  std::vector<int> blocks;  // of the four stages
  bool bottleneck = false;  // 1x1, 3x3, 1x1 with four times the width; else 3x3, 3x3
};

void AddBlock(const ResNet& net, const std::string& name, int64_t in, int64_t width, bool first,
              ShapeList* list) {
  const int64_t out = net.bottleneck ? 4 * width : width;
  if (net.bottleneck) {
    list->Convolution(name + ".conv1", width, in, 1);
    list->Norm(name + ".bn1", width);
    list->Convolution(name + ".conv2", width, width, 3);
    list->Norm(name + ".bn2", width);
    list->Convolution(name + ".conv3", out, width, 1);
    list->Norm(name + ".bn3", out);
  } else {
    list->Convolution(name + ".conv1", width, in, 3);
    list->Norm(name + ".bn1", width);
    list->Convolution(name + ".conv2", width, width, 3);
    list->Norm(name + ".bn2", width);
  }
  // The shortcut needs a projection where the number of channels changes, which it does nowhere but
  // in a stage's first block.
  if (first && in != out) {
    list->Convolution(name + ".downsample.0", out, in, 1);
    list->Norm(name + ".downsample.1", out);
  }
}

// All but the classifier; returns the channels at its end.
int64_t AddResNetBody(const ResNet& net, const std::string& prefix, ShapeList* list) {
  list->Convolution(prefix + "conv1", 64, 3, 7);
  list->Norm(prefix + "bn1", 64);
  int64_t channels = 64;
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage;
    for (int block = 0; block < net.blocks[stage]; ++block) {
      AddBlock(net, absl::StrCat(prefix, "layer", stage + 1, ".", block), channels, width,
               block == 0, list);
      channels = net.bottleneck ? 4 * width : width;
    }
  }
  return channels;
}

Shapes ResNetShapes(const ResNet& net) {
  ShapeList list;
  const int64_t channels = AddResNetBody(net, "", &list);
  list.Linear("fc", 1000, channels);
  return list.Take();
}

const ResNet& ResNet101() {
  static const auto* net = new ResNet{{3, 4, 23, 3}, true};
  return *net;
}

// Simonyan and Zisserman 2015, "Very Deep Convolutional Networks", configuration D. `layer` counts
// as torchvision's features do: a ReLU follows each convolution, a pooling each group.
Shapes Vgg16Shapes() {
  struct Group {
    int64_t width;
    int convolutions;
  };
  ShapeList list;
  int64_t channels = 3;
  int layer = 0;
  for (const Group& group : {Group{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 0; i < group.convolutions; ++i) {
      const std::string name = absl::StrCat("features.", layer);
      list.Convolution(name, group.width, channels, 3);
      list.Bias(name, group.width);
      channels = group.width;
      layer += 2;
    }
    ++layer;
  }
  list.Linear("classifier.0", 4096, channels * 7 * 7);
  list.Linear("classifier.3", 4096, 4096);
  list.Linear("classifier.6", 1000, 4096);
  return list.Take();
}

// Chen et al. 2017, "Rethinking Atrous Convolution for Semantic Image Segmentation": four parallel
// convolutions and one over the pooled image, joined by a projection.
Shapes DeepLabV3Shapes(int64_t classes) {
  constexpr int64_t kWidth = 256;
  ShapeList list;
  const int64_t channels = AddResNetBody(ResNet101(), "backbone.", &list);
  const std::string pyramid = "classifier.0.";
  for (int branch = 0; branch < 4; ++branch) {
    const std::string name = absl::StrCat(pyramid, "convs.", branch);
    list.Convolution(name + ".0", kWidth, channels, branch == 0 ? 1 : 3);
    list.Norm(name + ".1", kWidth);
  }
  list.Convolution(pyramid + "convs.4.1", kWidth, channels, 1);
  list.Norm(pyramid + "convs.4.2", kWidth);
  list.Convolution(pyramid + "project.0", kWidth, 5 * kWidth, 1);
  list.Norm(pyramid + "project.1", kWidth);
  list.Convolution("classifier.1", kWidth, kWidth, 3);
  list.Norm("classifier.2", kWidth);
  list.Convolution("classifier.4", classes, kWidth, 1);
  list.Bias("classifier.4", classes);
  // The auxiliary head looks at the third stage.
  list.Convolution("aux_classifier.0", kWidth, channels / 2, 3);
  list.Norm("aux_classifier.1", kWidth);
  list.Convolution("aux_classifier.4", classes, kWidth, 1);
  list.Bias("aux_classifier.4", classes);
  return list.Take();
}

// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners". Its linear layers
// have inputs first.
Shapes Gpt2Shapes() {
  constexpr int64_t kVocabulary = 50257;
  constexpr int64_t kPositions = 1024;
  constexpr int64_t kWidth = 768;
  constexpr int kLayers = 12;
  ShapeList list;
  const auto linear = [&list](const std::string& name, int64_t in, int64_t out) {
    list.Weight(name, {in, out});
    list.Bias(name, out);
  };
  list.Weight("transformer.wte", {kVocabulary, kWidth});
  list.Weight("transformer.wpe", {kPositions, kWidth});
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string block = absl::StrCat("transformer.h.", layer, ".");
    list.Norm(block + "ln_1", kWidth);
    linear(block + "attn.c_attn", kWidth, 3 * kWidth);
    linear(block + "attn.c_proj", kWidth, kWidth);
    list.Norm(block + "ln_2", kWidth);
    linear(block + "mlp.c_fc", kWidth, 4 * kWidth);
    linear(block + "mlp.c_proj", 4 * kWidth, kWidth);
  }
  list.Norm("transformer.ln_f", kWidth);
  return list.Take();
}

}  // namespace

const std::vector<std::string>& KnownShapePresets() {
  static const auto* known = new std::vector<std::string>{
      "resnet18", "resnet50", "resnet101", "vgg16", "deeplabv3_resnet101", "gpt2"};
  return *known;
}

absl::StatusOr<std::vector<ParameterSpec>> PresetShapes(absl::string_view name) {
  if (name == "resnet18") return ResNetShapes({{2, 2, 2, 2}, false});
  if (name == "resnet50") return ResNetShapes({{3, 4, 6, 3}, true});
  if (name == "resnet101") return ResNetShapes(ResNet101());
  if (name == "vgg16") return Vgg16Shapes();
  if (name == "deeplabv3_resnet101") return DeepLabV3Shapes(/*classes=*/21);
  if (name == "gpt2") return Gpt2Shapes();
  return absl::InvalidArgumentError(absl::StrCat("--model_args=preset=", name, ": must be one of ",
                                                 absl::StrJoin(KnownShapePresets(), ", ")));
}

}  // namespace ringside
