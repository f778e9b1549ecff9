#include "worker/data/voc_dataset.h"

#include "tests/worker/data/data_folder.h"
#include "tests/worker/data/image_files.h"

namespace ringside {
namespace {

class VocDatasetTest : public DataFolderTest {
 protected:
  VocDatasetTest() {
    Write("ImageSets/Segmentation/train.txt", "2007_2\n2007_1\r\n\n");
    Write("ImageSets/Segmentation/val.txt", "2007_3\n");
    for (const char* name : {"2007_1", "2007_2", "2007_3"}) {
      WriteJpeg(NewPath(Photograph(name)), 8, 8, 3, OneColour(8, 8, {128, 128, 128}));
      WritePalettePng(NewPath(Labels(name)), 8, 8, OneColour(8, 8, {5}));
    }
    // Left half class 20, right half nothing.
    std::vector<uint8_t> halves(64, 20);
    for (int i = 0; i < 64; ++i) {
      if (i % 8 >= 4) halves[i] = 255;
    }
    WritePalettePng(Path(Labels("2007_2")), 8, 8, halves);
  }
  static std::string Photograph(const std::string& name) { return "JPEGImages/" + name + ".jpg"; }
  static std::string Labels(const std::string& name) {
    return "SegmentationClass/" + name + ".png";
  }
  absl::StatusOr<std::unique_ptr<Dataset>> Load(Split split) const {
    return VocDataset::Load(folder_, split, 2, 4);
  }
  void ExpectFetchRefused(const std::vector<std::string>& messages) const {
    const auto training = Load(Split::kTraining);
    ASSERT_TRUE(training.ok()) << training.status();
    EXPECT_TRUE(Fetch(**training, {1}).ok());
    ExpectRefused(Fetch(**training, {0}).status(), absl::StatusCode::kInvalidArgument, messages);
  }
};

TEST_F(VocDatasetTest, PalettesAreLabelsAndThe255thIsIgnored) {
  const auto training = Load(Split::kTraining);
  ASSERT_TRUE(training.ok()) << training.status();
  EXPECT_EQ(ToString((*training)->sample_shape()), "images of 3x2x4 with a label a pixel");
  EXPECT_EQ((*training)->sample_shape().classes, 21);
  const auto all = FetchAll(**training);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->labels, (std::vector<int64_t>{20, 20, kIgnoredPixel, kIgnoredPixel,  //
                                               20, 20, kIgnoredPixel, kIgnoredPixel,  //
                                               5, 5, 5, 5, 5, 5, 5, 5}));
  ASSERT_EQ(all->images.size(), 48u);
  EXPECT_NEAR(all->images[0], (128 / 255.0 - 0.485) / 0.229, 0.03);
  EXPECT_NEAR(all->images[8], (128 / 255.0 - 0.456) / 0.224, 0.03);
  const auto test = Load(Split::kTest);
  ASSERT_TRUE(test.ok()) << test.status();
  EXPECT_EQ((*test)->size(), 1);
}

TEST_F(VocDatasetTest, MissingFilesNameTheLayout) {
  std::filesystem::remove(Path(Labels("2007_3")));
  ExpectRefused(Load(Split::kTest).status(), absl::StatusCode::kNotFound,
                {"--data_dir=" + folder_, "has no SegmentationClass/2007_3.png", "val.txt lists it",
                 "JPEGImages/<name>.jpg"});
  std::filesystem::remove(Path(Photograph("2007_1")));
  ExpectRefused(Load(Split::kTraining).status(), absl::StatusCode::kNotFound,
                {"has no JPEGImages/2007_1.jpg"});
  std::filesystem::remove(Path("ImageSets/Segmentation/train.txt"));
  ExpectRefused(Load(Split::kTraining).status(), absl::StatusCode::kNotFound,
                {"has no ImageSets/Segmentation/train.txt"});
  Write("ImageSets/Segmentation/val.txt", "\n \n");
  ExpectRefused(Load(Split::kTest).status(), absl::StatusCode::kInvalidArgument,
                {"val.txt: lists no images"});
}

TEST_F(VocDatasetTest, UnfitLabelsAreNamedWhenTheyAreFetched) {
  const std::string labels = Path(Labels("2007_2"));
  WritePalettePng(labels, 8, 8, OneColour(8, 8, {21}));
  ExpectFetchRefused({labels, "label 21; must be 0 to 20, or 255"});
  WritePalettePng(labels, 4, 8, OneColour(4, 8, {1}));
  ExpectFetchRefused({labels, "labels of 4x8 pixels; must be 8x8"});
  WritePng(labels, 8, 8, 3, OneColour(8, 8, {1, 2, 3}));
  ExpectFetchRefused({labels, "neither a palette"});
  WritePalettePng(labels, 8, 8, OneColour(8, 8, {1}));
  Write(Photograph("2007_2"), Read(Photograph("2007_2")).substr(0, 300));
  ExpectFetchRefused({Path(Photograph("2007_2")), "damaged"});
}

}  // namespace
}  // namespace ringside
