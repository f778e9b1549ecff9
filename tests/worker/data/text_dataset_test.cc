#include "worker/data/text_dataset.h"

#include "tests/worker/data/data_folder.h"

namespace ringside {
namespace {

class TextDatasetTest : public DataFolderTest {};

using Numbers = std::vector<int64_t>;

TEST_F(TextDatasetTest, EveryByteButTheFirstIsALabelOnce) {
  Write("train.txt", "abcdef\xff");
  const auto dataset = TextDataset::Load(folder_, Split::kTraining, 4);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ((*dataset)->size(), 2);
  EXPECT_EQ(ToString((*dataset)->sample_shape()), "sequences of 4 tokens with a label a token");
  EXPECT_EQ((*dataset)->sample_shape().vocabulary, 256);
  const auto all = FetchAll(**dataset);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->tokens, (Numbers{'a', 'b', 'c', 'd', 'e', 'f', 255, 0}));
  EXPECT_EQ(all->labels, (Numbers{'b', 'c', 'd', 'e', 'f', 255, kIgnoredToken, kIgnoredToken}));
}

TEST_F(TextDatasetTest, NoSequenceIsWithoutLabels) {
  for (int bytes = 2; bytes < 20; ++bytes) {
    Write("test.txt", std::string(bytes, 'x'));
    const auto dataset = TextDataset::Load(folder_, Split::kTest, 4);
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    const Numbers labels = FetchAll(**dataset)->labels;
    EXPECT_EQ(std::count(labels.begin(), labels.end(), 'x'), bytes - 1);
    for (size_t i = 0; i < labels.size(); i += 4) EXPECT_EQ(labels[i], 'x') << bytes;
  }
}

TEST_F(TextDatasetTest, MissingAndEmptyFilesAreNamed) {
  ExpectRefused(TextDataset::Load(folder_, Split::kTraining, 4).status(),
                absl::StatusCode::kNotFound,
                {"--data_dir=" + folder_, "has no train.txt", "train.txt and test.txt"});
  Write("test.txt", "a");
  ExpectRefused(TextDataset::Load(folder_, Split::kTest, 4).status(),
                absl::StatusCode::kInvalidArgument, {Path("test.txt"), "has 1 bytes"});
}

}  // namespace
}  // namespace ringside
