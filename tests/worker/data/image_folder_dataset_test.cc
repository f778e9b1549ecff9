#include "worker/data/image_folder_dataset.h"

#include "tests/worker/data/data_folder.h"
#include "tests/worker/data/image_files.h"

namespace ringside {
namespace {

class ImageFolderDatasetTest : public DataFolderTest {
 protected:
  ImageFolderDatasetTest() {
    WriteJpeg(NewPath("train/cat/b.jpg"), 16, 8, 3, OneColour(16, 8, {255, 0, 0}));
    WritePng(NewPath("train/cat/a.PNG"), 3, 3, 3, OneColour(3, 3, {0, 255, 0}));
    Write("train/cat/notes.txt", "no image");
    WritePng(NewPath("train/ant/x.png"), 3, 3, 1, OneColour(3, 3, {255}));
    WritePng(NewPath("val/cat/y.png"), 4, 4, 3, OneColour(4, 4, {0, 0, 255}));
  }
  absl::StatusOr<std::unique_ptr<Dataset>> Load(Split split) const {
    return ImageFolderDataset::Load(folder_, split, 4, 6);
  }
};

TEST_F(ImageFolderDatasetTest, ClassesAreFoldersInTheOrderOfTheirNames) {
  const auto training = Load(Split::kTraining);
  ASSERT_TRUE(training.ok()) << training.status();
  EXPECT_EQ(ToString((*training)->sample_shape()), "images of 3x4x6 with a label a sample");
  EXPECT_EQ((*training)->sample_shape().classes, 2);
  const auto all = FetchAll(**training);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->labels, (std::vector<int64_t>{0, 1, 1})) << "ant/x, cat/a, cat/b";
  EXPECT_FLOAT_EQ(all->images[0], (1.0f - 0.485f) / 0.229f);
  EXPECT_FLOAT_EQ(all->images[72], -0.485f / 0.229f);
  EXPECT_FLOAT_EQ(all->images[72 + 24], (1.0f - 0.456f) / 0.224f);
  EXPECT_NEAR(all->images[144 + 23], (1.0f - 0.485f) / 0.229f, 0.05);

  const auto test = Load(Split::kTest);
  ASSERT_TRUE(test.ok()) << test.status();
  EXPECT_EQ((*test)->sample_shape().classes, 2);
  EXPECT_EQ(FetchAll(**test)->labels, std::vector<int64_t>{1}) << "the number it has in train/";
}

TEST_F(ImageFolderDatasetTest, ADamagedImageIsNamedWhenItIsFetched) {
  Write("train/ant/x.png", Read("train/ant/x.png").substr(0, 40));
  const auto training = Load(Split::kTraining);
  ASSERT_TRUE(training.ok()) << training.status();
  EXPECT_TRUE(Fetch(**training, {1, 2}).ok());
  ExpectRefused(FetchAll(**training).status(), absl::StatusCode::kInvalidArgument,
                {Path("train/ant/x.png"), "damaged"});
  std::filesystem::remove(Path("train/ant/x.png"));
  ExpectRefused(FetchAll(**training).status(), absl::StatusCode::kNotFound,
                {Path("train/ant/x.png")});
}

TEST_F(ImageFolderDatasetTest, WhatIsMissingNamesTheLayout) {
  std::filesystem::create_directories(Path("val/dog"));
  WritePng(Path("val/dog/z.png"), 1, 1, 1, {1});
  ExpectRefused(Load(Split::kTest).status(), absl::StatusCode::kInvalidArgument,
                {"val/dog is no class", "only ant, cat"});
  std::filesystem::remove_all(Path("val"));
  ExpectRefused(Load(Split::kTest).status(), absl::StatusCode::kNotFound,
                {"--data_dir=" + folder_, "has no folder test", "test/<class>/ (or val/<class>/)"});
  std::filesystem::create_directories(Path("train/empty"));
  ExpectRefused(Load(Split::kTraining).status(), absl::StatusCode::kNotFound,
                {"train/empty holds no image"});
  std::filesystem::remove_all(Path("train"));
  ExpectRefused(Load(Split::kTraining).status(), absl::StatusCode::kNotFound,
                {"has no folder train", "train/<class>/"});
  std::filesystem::create_directories(Path("train"));
  ExpectRefused(Load(Split::kTraining).status(), absl::StatusCode::kNotFound,
                {"train holds no folder"});
}

}  // namespace
}  // namespace ringside
