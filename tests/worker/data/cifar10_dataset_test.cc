#include "worker/data/cifar10_dataset.h"

#include "tests/worker/data/data_folder.h"

namespace ringside {
namespace {

// A record whose pixels are `red` in the first plane and 0 in the others.
std::string Record(char label, char red) {
  return std::string(1, label) + std::string(1024, red) + std::string(2048, '\0');
}

class Cifar10DatasetTest : public DataFolderTest {
 protected:
  Cifar10DatasetTest() {
    for (int i = 1; i <= 5; ++i) {
      Write("data_batch_" + std::to_string(i) + ".bin", Record(static_cast<char>(i), '\xff'));
    }
    Write("test_batch.bin", Record(9, 0) + Record(0, '\xff'));
  }
  absl::Status StatusOf(Split split) const { return LoadCifar10(folder_, split).status(); }
};

TEST_F(Cifar10DatasetTest, LoadsAllFilesInOrderAndNormalisesByChannel) {
  const auto training = LoadCifar10(folder_, Split::kTraining);
  ASSERT_TRUE(training.ok()) << training.status();
  EXPECT_EQ((*training)->size(), 5);
  EXPECT_EQ(ToString((*training)->sample_shape()), "images of 3x32x32 with a label a sample");
  const auto fetched = FetchAll(**training);
  ASSERT_TRUE(fetched.ok());
  EXPECT_EQ(fetched->labels, (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_FLOAT_EQ(fetched->images[0], (1.0f - 0.4914f) / 0.2470f);
  EXPECT_FLOAT_EQ(fetched->images[1023], (1.0f - 0.4914f) / 0.2470f);
  EXPECT_FLOAT_EQ(fetched->images[1024], -0.4822f / 0.2435f);
  EXPECT_FLOAT_EQ(fetched->images[3071], -0.4465f / 0.2616f);

  const auto test = LoadCifar10(folder_, Split::kTest);
  ASSERT_TRUE(test.ok()) << test.status();
  EXPECT_EQ(FetchAll(**test)->labels, (std::vector<int64_t>{9, 0}));
}

TEST_F(Cifar10DatasetTest, AMissingFileNamesTheLayout) {
  std::filesystem::remove(Path("data_batch_3.bin"));
  ExpectRefused(
      StatusOf(Split::kTraining), absl::StatusCode::kNotFound,
      {"--data_dir=" + folder_, "has no data_batch_3.bin", "data_batch_1.bin to data_batch_5.bin"});
  std::filesystem::remove(Path("test_batch.bin"));
  ExpectRefused(StatusOf(Split::kTest), absl::StatusCode::kNotFound, {"has no test_batch.bin"});
}

TEST_F(Cifar10DatasetTest, DamagedFilesAreNamed) {
  Write("data_batch_2.bin", Record(1, 1) + "x");
  ExpectRefused(StatusOf(Split::kTraining), absl::StatusCode::kInvalidArgument,
                {Path("data_batch_2.bin"), "has 3074 bytes; must be a multiple of 3073"});
  Write("data_batch_2.bin", Record(1, 1) + Record(10, 1));
  ExpectRefused(StatusOf(Split::kTraining), absl::StatusCode::kInvalidArgument,
                {Path("data_batch_2.bin"), "label 10 of record 1; labels go from 0 to 9"});
  Write("test_batch.bin", "");
  ExpectRefused(StatusOf(Split::kTest), absl::StatusCode::kInvalidArgument, {"holds no images"});
  std::filesystem::remove(Path("test_batch.bin"));
  std::filesystem::create_directory(Path("test_batch.bin"));
  ExpectRefused(StatusOf(Split::kTest), absl::StatusCode::kInvalidArgument,
                {"is not a regular file"});
}

}  // namespace
}  // namespace ringside
