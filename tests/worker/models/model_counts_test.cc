#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/config/job_config.h"
#include "tests/worker/models/model_bench.h"
#include "worker/models/model_factory.h"

namespace ringside {
namespace {

const SampleShape kImageNet = SampleShape::Image(3, 224, 224, 1000);

std::vector<ParameterSpec> ParametersOf(const ModelConfig& config) {
  const auto model = CreateModel(config);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? (*model)->Parameters() : std::vector<ParameterSpec>{};
}

void ExpectParameters(const ModelConfig& config, int64_t elements, size_t tensors,
                      const std::string& first, const std::string& last) {
  SCOPED_TRACE(config.name);
  const std::vector<ParameterSpec> specs = ParametersOf(config);
  EXPECT_EQ(TotalElements(specs), elements);
  ASSERT_EQ(specs.size(), tensors);
  EXPECT_EQ(ToString(specs.front()), first);
  EXPECT_EQ(ToString(specs.back()), last);
}

TEST(ModelCountsTest, AreThePublishedOnes) {
  ExpectParameters(Configured("resnet18", "", kImageNet), 11'689'512, 62,
                   "conv1.weight float32 [64,3,7,7]", "fc.bias float32 [1000]");
  ExpectParameters(Configured("resnet50", "", kImageNet), 25'557'032, 161,
                   "conv1.weight float32 [64,3,7,7]", "fc.bias float32 [1000]");
  ExpectParameters(Configured("resnet101", "", kImageNet), 44'549'160, 314,
                   "conv1.weight float32 [64,3,7,7]", "fc.bias float32 [1000]");
  ExpectParameters(Configured("vgg16", "", kImageNet), 138'357'544, 32,
                   "features.0.weight float32 [64,3,3,3]", "classifier.6.bias float32 [1000]");
  ExpectParameters(
      Configured("deeplabv3_resnet101", "", SampleShape::Segmentation(3, 520, 520, 21)), 60'996'202,
      340, "backbone.conv1.weight float32 [64,3,7,7]", "aux_classifier.4.bias float32 [21]");
  ExpectParameters(Configured("gpt", "", SampleShape::Language(1024, 50257)), 124'439'808, 148,
                   "transformer.wte.weight float32 [50257,768]",
                   "transformer.ln_f.bias float32 [768]");
}

TEST(ModelCountsTest, OfTheTransformerFollowFromItsSizes) {
  // (vocabulary + sequence) w + layers (4 w^2 + 4 w + 2 w f + f + w + 4 w) + classes (w + 1)
  ExpectParameters(Configured("transformer", "layers=6,width=512,heads=8,feedforward=2048",
                              SampleShape::Text(512, 20'000, 2)),
                   20'512 * 512 + 6 * (4 * 512 * 512 + 2 * 512 * 2048 + 2048 + 9 * 512) + 2 * 513,
                   2 + 6 * 12 + 2, "embedding.weight float32 [20000,512]",
                   "classifier.bias float32 [2]");
}

TEST(ModelCountsTest, ThreeQuartersOfVggAreOneTensor) {
  const std::vector<ParameterSpec> specs = ParametersOf(Configured("vgg16", "", kImageNet));
  const auto largest = std::max_element(
      specs.begin(), specs.end(), [](auto& a, auto& b) { return a.elements() < b.elements(); });
  EXPECT_EQ(largest->name, "classifier.0.weight");
  EXPECT_NEAR(static_cast<double>(largest->elements()) / TotalElements(specs), 0.74, 0.005);
}

TEST(ModelCountsTest, NamesAreThoseOfPython) {
  const auto has = [](const ModelConfig& config, const std::string& spec) {
    for (const ParameterSpec& each : ParametersOf(config)) {
      if (ToString(each) == spec) return true;
    }
    return false;
  };
  const ModelConfig resnet = Configured("resnet50", "", kImageNet);
  EXPECT_TRUE(has(resnet, "layer2.0.downsample.0.weight float32 [512,256,1,1]"));
  EXPECT_TRUE(has(resnet, "layer4.2.bn3.weight float32 [2048]"));
  const ModelConfig deeplab =
      Configured("deeplabv3_resnet101", "", SampleShape::Segmentation(3, 65, 65, 21));
  EXPECT_TRUE(has(deeplab, "classifier.0.convs.3.0.weight float32 [256,2048,3,3]"));
  EXPECT_TRUE(has(deeplab, "classifier.0.convs.4.1.weight float32 [256,2048,1,1]"));
  EXPECT_TRUE(has(deeplab, "classifier.0.project.0.weight float32 [256,1280,1,1]"));
  EXPECT_TRUE(has(deeplab, "aux_classifier.0.weight float32 [256,1024,3,3]"));
  EXPECT_TRUE(has(TinyTransformer(), "encoder.layers.1.self_attn.in_proj_weight float32 [36,12]"));
  EXPECT_TRUE(has(TinyGpt(), "transformer.h.1.attn.c_attn.weight float32 [12,36]"));
}

TEST(ModelCountsTest, BuffersOfResnetAreThoseOfItsNormalisations) {
  const auto model = *CreateModel(Configured("resnet18", "", kImageNet));
  const BufferSpecs& buffers = model->Buffers();
  EXPECT_EQ(buffers.counters.size(), 20u);
  EXPECT_EQ(buffers.floats.size(), 40u);
  EXPECT_EQ(ToString(buffers.floats[0]), "bn1.running_mean float32 [64]");
  EXPECT_EQ(ToString(buffers.floats[1]), "bn1.running_var float32 [64]");
  EXPECT_EQ(ToString(buffers.counters[0]), "bn1.num_batches_tracked int64 []");
  EXPECT_EQ(TotalElements(buffers.floats), 2 * 4800);
}

TEST(ModelFactoryTest, MakesAllModelsThatTheFlagAllows) {
  for (const std::string& name : KnownModels()) {
    if (name == "shapes") continue;  // gradients without a model, which others make
    const SampleShape shape = name == "gpt"           ? SampleShape::Language(8, 20)
                              : name == "transformer" ? SampleShape::Text(8, 20, 2)
                              : name == "deeplabv3_resnet101"
                                  ? SampleShape::Segmentation(3, 8, 8, 2)
                                  : SampleShape::Image(3, 32, 32, 10);
    EXPECT_TRUE(CreateModel(Configured(name, "", shape)).ok()) << name;
  }
}

std::string Refusal(const ModelConfig& config) {
  return std::string(CreateModel(config).status().message());
}

TEST(ModelFactoryTest, ErrorsTellWhatWouldBeRight) {
  const SampleShape image = SampleShape::Image(3, 32, 32, 10);
  EXPECT_EQ(Refusal(Configured("vgg19", "", image)),
            "--model=vgg19: must be one of mlp, lenet, resnet18, resnet50, resnet101, vgg16, "
            "deeplabv3_resnet101, transformer, gpt");
  EXPECT_EQ(Refusal(Configured("lenet", "", SampleShape::Image(1, 8, 28, 10))),
            "--model=lenet: needs images of at least 16x16, and the data is images of 1x8x28 with "
            "a label a sample");
  EXPECT_EQ(Refusal(Configured("gpt", "", image)),
            "--model=gpt: needs sequences with a label a token, and the data is images of 3x32x32 "
            "with a label a sample");
  EXPECT_EQ(Refusal(Configured("resnet18", "channels=4", image)),
            "--model=resnet18: needs grey images or ones of 4 channels, and the data is images of "
            "3x32x32 with a label a sample");
  EXPECT_EQ(Refusal(Configured("resnet18", "hidden=3", image)),
            "--model_args=hidden=3: unknown; --model=resnet18 has classes, channels");
  EXPECT_EQ(Refusal(Configured("resnet18", "classes=9", image)),
            "--model_args=classes=9: must be a whole number of at least 10; --model=resnet18 has "
            "classes, channels");
  EXPECT_EQ(Refusal(Configured("transformer", "width=10,heads=4", SampleShape::Text(8, 9, 2))),
            "--model_args=width=10: must be a multiple of heads=4 of --model=transformer");
  EXPECT_EQ(Refusal(Configured("deeplabv3_resnet101", "classes=256",
                               SampleShape::Segmentation(3, 8, 8, 2))),
            "--model=deeplabv3_resnet101: 256 classes, and the label 255 is that of pixels that do "
            "not count");
}

}  // namespace
}  // namespace ringside
