#include "worker/data/dataset_factory.h"

#include "tests/worker/data/data_folder.h"
#include "tests/worker/data/image_files.h"

namespace ringside {
namespace {

class DatasetFactoryTest : public DataFolderTest {
 protected:
  DatasetConfig Config(const std::string& name, const std::string& arguments = "",
                       const std::string& model = "mlp") const {
    DatasetConfig config;
    config.name = name;
    config.folder = folder_;
    config.arguments = arguments;
    config.model = model;
    return config;
  }
  static std::string ShapeOf(const DatasetConfig& config) {
    const auto datasets = LoadDatasets(config);
    return datasets.ok() ? ToString(datasets->training->sample_shape())
                         : datasets.status().ToString();
  }
};

TEST_F(DatasetFactoryTest, SyntheticSamplesSuitTheModel) {
  EXPECT_EQ(ShapeOf(Config("synthetic")), "images of 3x32x32 with a label a sample");
  EXPECT_EQ(ShapeOf(Config("synthetic", "channels=1,rows=5,columns=6", "resnet50")),
            "images of 1x5x6 with a label a sample");
  EXPECT_EQ(ShapeOf(Config("synthetic", "", "deeplabv3_resnet101")),
            "images of 3x64x64 with a label a pixel");
  EXPECT_EQ(ShapeOf(Config("synthetic", "length=12", "transformer")),
            "sequences of 12 tokens with a label a sample");
  EXPECT_EQ(ShapeOf(Config("synthetic", "vocabulary=50257", "gpt")),
            "sequences of 128 tokens with a label a token");
}

TEST_F(DatasetFactoryTest, SizesAreArguments) {
  const auto datasets = LoadDatasets(Config("synthetic", "samples=7,test_samples=3,classes=2"));
  ASSERT_TRUE(datasets.ok()) << datasets.status();
  EXPECT_EQ(datasets->training->size(), 7);
  EXPECT_EQ(datasets->test->size(), 3);
  EXPECT_EQ(datasets->training->sample_shape().classes, 2);
  DatasetConfig alone = Config("synthetic");
  alone.with_test = false;
  EXPECT_EQ(LoadDatasets(alone)->test, nullptr);
}

TEST_F(DatasetFactoryTest, EverySourceIsFound) {
  Write("train.txt", "abc");
  Write("test.txt", "abc");
  EXPECT_EQ(ShapeOf(Config("text", "length=2")), "sequences of 2 tokens with a label a token");
  for (const char* name : {"train/neg/1.txt", "train/pos/1.txt", "test/neg/1.txt"})
    Write(name, "a");
  Write("test/pos/1.txt", "b");
  const auto reviews = LoadDatasets(Config("imdb", "length=5,vocabulary=3"));
  ASSERT_TRUE(reviews.ok()) << reviews.status();
  EXPECT_EQ(reviews->training->sample_shape().vocabulary, 3);
  EXPECT_EQ(reviews->shared_settings.at("vocabulary_sha256").size(), 64u);
  EXPECT_EQ(FetchAll(*reviews->test)->tokens, (std::vector<int64_t>{2, 0, 0, 0, 0, 1, 0, 0, 0, 0}));
  std::filesystem::remove_all(Path("train"));
  std::filesystem::remove_all(Path("test"));
  WritePng(NewPath("train/a/1.png"), 1, 1, 1, {1});
  WritePng(NewPath("test/a/1.png"), 1, 1, 1, {1});
  EXPECT_EQ(ShapeOf(Config("image_folder")), "images of 3x224x224 with a label a sample");
  for (const char* name : {"mnist", "cifar10", "voc"}) {
    ExpectRefused(LoadDatasets(Config(name)).status(), absl::StatusCode::kNotFound,
                  {"--data_dir=" + folder_, "it must hold"});
  }
}

// Another rank has other files of as many reviews, and tells the words of both apart as rank 0
// does.
TEST_F(DatasetFactoryTest, WhatRankZeroMakesServesAllRanks) {
  DatasetConfig own = Config("imdb", "length=3,vocabulary=4");
  own.folder = Path("own");
  DatasetConfig other = own;
  other.folder = Path("other");
  other.makes_for_all = false;
  for (const char* split : {"train", "test"}) {
    for (const char* kind : {"/neg/1.txt", "/pos/1.txt"}) {
      Write(std::string("own/") + split + kind, "film good film");
      Write(std::string("other/") + split + kind, "good bad bad");
    }
  }
  const auto rank0 = LoadDatasets(own);
  auto rank1 = LoadDatasets(other);
  ASSERT_TRUE(rank0.ok() && rank1.ok()) << rank0.status() << rank1.status();
  EXPECT_EQ(rank0->shared_data->name, "vocabulary");
  EXPECT_EQ(rank0->shared_data->made, "film\ngood\n");
  EXPECT_EQ(rank1->shared_data->made, "");
  EXPECT_EQ(rank1->training->size(), rank0->training->size());
  EXPECT_EQ(ToString(rank1->training->sample_shape()), ToString(rank0->training->sample_shape()));
  ExpectRefused(rank1->shared_data->take("film\ngo"), absl::StatusCode::kInvalidArgument,
                {"cut off"});
  const absl::Status taken = rank1->shared_data->take(rank0->shared_data->made);
  ASSERT_TRUE(taken.ok()) << taken;
  EXPECT_EQ(FetchAll(*rank0->training)->tokens, (std::vector<int64_t>{2, 3, 2, 2, 3, 2}));
  for (const Dataset* split : {rank1->training.get(), rank1->test.get()}) {
    EXPECT_EQ(FetchAll(*split)->tokens, (std::vector<int64_t>{3, 1, 1, 3, 1, 1}));
  }
  EXPECT_FALSE(LoadDatasets(Config("synthetic"))->shared_data.has_value());
}

TEST_F(DatasetFactoryTest, BadArgumentsAreNamed) {
  const auto refuse = [&](const DatasetConfig& config, const std::string& message) {
    ExpectRefused(LoadDatasets(config).status(), absl::StatusCode::kInvalidArgument, {message});
  };
  refuse(Config("imagenet"),
         "--dataset=imagenet: must be one of mnist, cifar10, image_folder, voc, imdb, text, "
         "synthetic");
  refuse(Config("mnist", "rows=3"), "--dataset_args=rows=3: unknown; --dataset=mnist has none");
  refuse(Config("voc", "rows=0"), "--dataset_args=rows=0: must be a whole number of at least 1");
  refuse(Config("voc", "length=5"), "unknown; --dataset=voc has rows, columns");
  refuse(Config("synthetic", "rows=99999999999"), "samples of 3x99999999999x32 elements");
  refuse(Config("synthetic", "vocabulary=2,classes=3", "transformer"), "a token for each class");
  refuse(Config("imdb", "vocabulary=1"), "--dataset_args=vocabulary=1");
}

}  // namespace
}  // namespace ringside
