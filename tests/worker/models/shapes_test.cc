#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "common/shape_presets.h"
#include "worker/models/shape_file.h"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ShapePresetsTest, HaveThePublishedNumbersOfParameters) {
  const std::map<std::string, int64_t> published = {{"resnet18", 11689512},
                                                    {"resnet50", 25557032},
                                                    {"resnet101", 44549160},
                                                    {"vgg16", 138357544},
                                                    {"deeplabv3_resnet101", 60996202},
                                                    {"gpt2", 124439808}};
  ASSERT_EQ(published.size(), KnownShapePresets().size());
  for (const std::string& name : KnownShapePresets()) {
    const auto shapes = PresetShapes(name);
    ASSERT_TRUE(shapes.ok()) << shapes.status();
    EXPECT_EQ(TotalElements(*shapes), published.at(name)) << name;
    std::set<std::string> names;
    for (const ParameterSpec& spec : *shapes) EXPECT_TRUE(names.insert(spec.name).second);
  }
}

// Tensors as torchvision and transformers count them.
TEST(ShapePresetsTest, HaveTheParametersOfTheModels) {
  EXPECT_EQ(PresetShapes("resnet18")->size(), 62u);
  EXPECT_EQ(PresetShapes("resnet50")->size(), 161u);
  EXPECT_EQ(PresetShapes("resnet101")->size(), 314u);
  EXPECT_EQ(PresetShapes("vgg16")->size(), 32u);
  EXPECT_EQ(PresetShapes("gpt2")->size(), 148u);
  const ParameterSpec projection = {"layer2.0.downsample.0.weight", {512, 256, 1, 1}};
  EXPECT_THAT(*PresetShapes("resnet50"), Contains(projection));
  const ParameterSpec last_kernel = {"features.28.weight", {512, 512, 3, 3}};
  EXPECT_THAT(*PresetShapes("vgg16"), Contains(last_kernel));
  const auto vgg = *PresetShapes("vgg16");
  const auto largest = std::max_element(vgg.begin(), vgg.end(), [](const auto& a, const auto& b) {
    return a.elements() < b.elements();
  });
  EXPECT_EQ(ToString(*largest), "classifier.0.weight float32 [4096,25088]");
  EXPECT_EQ(100 * largest->elements() / TotalElements(vgg), 74);
  EXPECT_EQ(PresetShapes("gpt2")->front().name, "transformer.wte.weight");
}

TEST(ShapeFileTest, ReadsNamesAndExtents) {
  const auto shapes = ParseShapes("x", "# sizes\n\n a.weight 3 4  # of the first\r\na.bias\t3\n");
  ASSERT_TRUE(shapes.ok()) << shapes.status();
  EXPECT_THAT(*shapes,
              ElementsAre(ParameterSpec{"a.weight", {3, 4}}, ParameterSpec{"a.bias", {3}}));
}

TEST(ShapeFileTest, ErrorsNameTheLine) {
  const auto message = [](const std::string& text) {
    return std::string(ParseShapes("x", text).status().message());
  };
  EXPECT_EQ(message("a 1\nb"), "--model_args=file=x: line 2: b has no extents");
  EXPECT_EQ(message("a 1\na 2"), "--model_args=file=x: line 2: a was there before");
  EXPECT_EQ(message("a 0"),
            "--model_args=file=x: line 1: \"0\" must be a whole number of at least 1");
  EXPECT_EQ(message("a 3x4"),
            "--model_args=file=x: line 1: \"3x4\" must be a whole number of at least 1");
  EXPECT_EQ(message("a 10000000000 10000000000 10000000000"),
            "--model_args=file=x: line 1: more than 68719476736 elements in all");
  EXPECT_THAT(message("a 34359738368\nb 34359738368\nc 1"), HasSubstr("line 3: more than"));
  EXPECT_THAT(message("\n# nothing\n"), HasSubstr("file=x: names no parameter"));
}

}  // namespace
}  // namespace ringside
