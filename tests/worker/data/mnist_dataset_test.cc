#include "worker/data/mnist_dataset.h"

#include <zlib.h>

#include <filesystem>

#include "tests/worker/data/data_folder.h"

namespace ringside {
namespace {

std::string Idx(const std::vector<uint32_t>& shape, const std::string& values) {
  std::string bytes("\0\0\x08", 3);
  bytes += static_cast<char>(shape.size());
  for (uint32_t extent : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(extent >> shift);
  }
  return bytes + values;
}

class MnistDatasetTest : public DataFolderTest {
 protected:
  void WriteTraining(uint32_t images, const std::string& labels) {
    Write("train-images-idx3-ubyte", Idx({images, 28, 28}, std::string(images * 784, '\x80')));
    Write("train-labels-idx1-ubyte", Idx({static_cast<uint32_t>(labels.size())}, labels));
  }
  void ExpectRefused(absl::StatusCode code, const std::string& message) {
    ringside::ExpectRefused(LoadMnist(folder_, Split::kTraining).status(), code, {message});
  }
};

TEST_F(MnistDatasetTest, LoadsPlainAndCompressedFilesByName) {
  WriteTraining(2, std::string("\x03\x09", 2));
  const std::string images = Idx({1, 28, 28}, std::string(784, '\0'));
  const gzFile gz = gzopen((folder_ + "/t10k-images-idx3-ubyte.gz").c_str(), "wb");
  gzwrite(gz, images.data(), images.size());
  gzclose(gz);
  Write("t10k-labels-idx1-ubyte", Idx({1}, std::string("\x05", 1)));

  const auto training = LoadMnist(folder_, Split::kTraining);
  ASSERT_TRUE(training.ok()) << training.status();
  EXPECT_EQ((*training)->size(), 2);
  EXPECT_EQ((*training)->sample_shape().input_elements(), 784);
  const auto test = LoadMnist(folder_, Split::kTest);
  ASSERT_TRUE(test.ok()) << test.status();
  EXPECT_EQ((*test)->size(), 1);
}

TEST_F(MnistDatasetTest, AMissingFileNamesTheLayout) {
  ExpectRefused(absl::StatusCode::kNotFound,
                "has neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz");
  ExpectRefused(absl::StatusCode::kNotFound, "--data_dir=" + folder_);
  ExpectRefused(absl::StatusCode::kNotFound, "t10k-labels-idx1-ubyte");
  WriteTraining(1, std::string(1, '\0'));
  std::filesystem::remove(folder_ + "/train-labels-idx1-ubyte");
  ExpectRefused(absl::StatusCode::kNotFound, "has neither train-labels-idx1-ubyte");
}

TEST_F(MnistDatasetTest, CountsMustAgree) {
  WriteTraining(2, std::string(3, '\x01'));
  ExpectRefused(absl::StatusCode::kInvalidArgument, "has 2 images but ");
  ExpectRefused(absl::StatusCode::kInvalidArgument, "has 3 labels");
}

TEST_F(MnistDatasetTest, LabelsGoToNine) {
  WriteTraining(2, std::string("\x01\x0a", 2));
  ExpectRefused(absl::StatusCode::kInvalidArgument, "label 10 of image 1; labels go from 0 to 9");
}

TEST_F(MnistDatasetTest, NoImagesIsAnError) {
  WriteTraining(0, "");
  ExpectRefused(absl::StatusCode::kInvalidArgument, "holds no images");
}

TEST_F(MnistDatasetTest, ImagesHaveMnistsSize) {
  Write("train-images-idx3-ubyte", Idx({1, 14, 56}, std::string(784, '\0')));
  Write("train-labels-idx1-ubyte", Idx({1}, std::string(1, '\0')));
  ExpectRefused(absl::StatusCode::kInvalidArgument, "images of 14x56, must be 28x28");
}

TEST_F(MnistDatasetTest, FetchNormalises) {
  const auto dataset = MakeMnist("test", 1, 2, {0, 255, 51, 102}, {7, 8});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  const auto fetched = Fetch(**dataset, {1, 0, 1});
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  EXPECT_EQ(fetched->labels, (std::vector<int64_t>{8, 7, 8}));
  const std::vector<float>& images = fetched->images;
  ASSERT_EQ(images.size(), 6u);
  EXPECT_FLOAT_EQ(images[0], (0.2f - 0.1307f) / 0.3081f);
  EXPECT_FLOAT_EQ(images[2], (0.0f - 0.1307f) / 0.3081f);
  EXPECT_FLOAT_EQ(images[3], (1.0f - 0.1307f) / 0.3081f);
  EXPECT_EQ(images[4], images[0]);
}

TEST_F(MnistDatasetTest, FetchOfNothingIsNothing) {
  const auto dataset = MakeMnist("test", 1, 1, {0}, {7});
  ASSERT_TRUE(dataset.ok());
  EXPECT_TRUE((*dataset)->Fetch({}, {}).ok());
}

}  // namespace
}  // namespace ringside
