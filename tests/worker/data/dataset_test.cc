#include "worker/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

namespace ringside {
namespace {

using ::testing::HasSubstr;

std::string Idx(const std::vector<uint32_t>& shape, const std::string& values) {
  std::string bytes("\0\0\x08", 3);
  bytes += static_cast<char>(shape.size());
  for (uint32_t extent : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(extent >> shift);
  }
  return bytes + values;
}

class DatasetTest : public testing::Test {
 protected:
  DatasetTest()
      : folder_(testing::TempDir() + "/dataset_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }
  void WriteTraining(uint32_t images, const std::string& labels) {
    Write("train-images-idx3-ubyte", Idx({images, 28, 28}, std::string(images * 784, '\x80')));
    Write("train-labels-idx1-ubyte", Idx({static_cast<uint32_t>(labels.size())}, labels));
  }
  void ExpectRefused(absl::StatusCode code, const std::string& message) {
    const auto dataset = Dataset::LoadMnist(folder_, Split::kTraining);
    EXPECT_EQ(dataset.status().code(), code);
    EXPECT_THAT(std::string(dataset.status().message()), HasSubstr(message));
  }

  const std::string folder_;
};

TEST_F(DatasetTest, LoadsPlainAndCompressedFilesByName) {
  WriteTraining(2, std::string("\x03\x09", 2));
  const std::string images = Idx({1, 28, 28}, std::string(784, '\0'));
  const gzFile gz = gzopen((folder_ + "/t10k-images-idx3-ubyte.gz").c_str(), "wb");
  gzwrite(gz, images.data(), images.size());
  gzclose(gz);
  Write("t10k-labels-idx1-ubyte", Idx({1}, std::string("\x05", 1)));

  const auto training = Dataset::LoadMnist(folder_, Split::kTraining);
  ASSERT_TRUE(training.ok()) << training.status();
  EXPECT_EQ(training->size(), 2);
  EXPECT_EQ(training->image_elements(), 784);
  const auto test = Dataset::LoadMnist(folder_, Split::kTest);
  ASSERT_TRUE(test.ok()) << test.status();
  EXPECT_EQ(test->size(), 1);
}

TEST_F(DatasetTest, AMissingFileNamesTheLayout) {
  ExpectRefused(absl::StatusCode::kNotFound,
                "has neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz");
  ExpectRefused(absl::StatusCode::kNotFound, "--data_dir=" + folder_);
  ExpectRefused(absl::StatusCode::kNotFound, "t10k-labels-idx1-ubyte");
  WriteTraining(1, std::string(1, '\0'));
  std::filesystem::remove(folder_ + "/train-labels-idx1-ubyte");
  ExpectRefused(absl::StatusCode::kNotFound, "has neither train-labels-idx1-ubyte");
}

TEST_F(DatasetTest, CountsMustAgree) {
  WriteTraining(2, std::string(3, '\x01'));
  ExpectRefused(absl::StatusCode::kInvalidArgument, "has 2 images but ");
  ExpectRefused(absl::StatusCode::kInvalidArgument, "has 3 labels");
}

TEST_F(DatasetTest, LabelsGoToNine) {
  WriteTraining(2, std::string("\x01\x0a", 2));
  ExpectRefused(absl::StatusCode::kInvalidArgument, "label 10 of image 1; labels go from 0 to 9");
}

TEST_F(DatasetTest, NoImagesIsAnError) {
  WriteTraining(0, "");
  ExpectRefused(absl::StatusCode::kInvalidArgument, "holds no images");
}

TEST_F(DatasetTest, ImagesHaveMnistsSize) {
  Write("train-images-idx3-ubyte", Idx({1, 14, 56}, std::string(784, '\0')));
  Write("train-labels-idx1-ubyte", Idx({1}, std::string(1, '\0')));
  ExpectRefused(absl::StatusCode::kInvalidArgument, "images of 14x56, must be 28x28");
}

TEST_F(DatasetTest, FetchNormalises) {
  const auto dataset = Dataset::Create("test", 1, 2, {0, 255, 51, 102}, {7, 8});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  std::vector<float> images(6);
  std::vector<int64_t> labels(3);
  dataset->Fetch({1, 0, 1}, absl::MakeSpan(images), absl::MakeSpan(labels));
  EXPECT_EQ(labels, (std::vector<int64_t>{8, 7, 8}));
  EXPECT_FLOAT_EQ(images[0], (0.2f - 0.1307f) / 0.3081f);
  EXPECT_FLOAT_EQ(images[2], (0.0f - 0.1307f) / 0.3081f);
  EXPECT_FLOAT_EQ(images[3], (1.0f - 0.1307f) / 0.3081f);
  EXPECT_EQ(images[4], images[0]);
}

TEST_F(DatasetTest, FetchOfNothingIsNothing) {
  const auto dataset = Dataset::Create("test", 1, 1, {0}, {7});
  ASSERT_TRUE(dataset.ok());
  dataset->Fetch({}, {}, {});
}

}  // namespace
}  // namespace ringside
