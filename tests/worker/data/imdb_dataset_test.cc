#include "worker/data/imdb_dataset.h"

#include "tests/worker/data/data_folder.h"

namespace ringside {
namespace {

using Numbers = std::vector<int64_t>;

std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> words;
  ForEachWord(text, [&](const std::string& word) { words.push_back(word); });
  return words;
}

TEST(ForEachWordTest, LowersAndSplitsPunctuation) {
  EXPECT_EQ(WordsOf("It's GOOD,\n really!<br /><br />10/10 caf\xc3\xa9 <b>"),
            (std::vector<std::string>{"it's", "good", ",", "really", "!", "10", "/", "10",
                                      "caf\xc3\xa9", "<", "b", ">"}));
  EXPECT_EQ(WordsOf(" \t\n"), std::vector<std::string>{});
}

WordList ListOf(const std::vector<std::pair<std::string, int>>& counts) {
  WordList list;
  for (const auto& [word, count] : counts) {
    for (int i = 0; i < count; ++i) list.Add(word);
  }
  return list;
}

TEST(WordListTest, NumbersWordsAsTheyCome) {
  WordList list;
  EXPECT_EQ(list.Add("b"), 0);
  EXPECT_EQ(list.Add("a"), 1);
  EXPECT_EQ(list.Add("b"), 0);
  EXPECT_EQ(list.size(), 2);
  EXPECT_EQ(list.word(1), "a");
  EXPECT_EQ(list.count(0), 2);
  EXPECT_EQ(list.count(1), 1);
}

TEST(WordVocabularyTest, IsReadAsItWasWritten) {
  const WordVocabulary vocabulary(ListOf({{"b", 3}, {"caf\xc3\xa9", 2}, {"'", 9}}), 10);
  EXPECT_EQ(vocabulary.Encode(), "'\nb\ncaf\xc3\xa9\n");
  const auto read = WordVocabulary::Decode(vocabulary.Encode(), 5);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->hash(), vocabulary.hash());
  for (const char* word : {"b", "caf\xc3\xa9", "'", "rare"}) {
    EXPECT_EQ(read->IdOf(word), vocabulary.IdOf(word));
  }
  EXPECT_TRUE(WordVocabulary::Decode("", 2).ok());
  const auto refuse = [](const std::string& text, int64_t size, const std::string& why) {
    ExpectRefused(WordVocabulary::Decode(text, size).status(), absl::StatusCode::kInvalidArgument,
                  {why});
  };
  refuse("a\nb\nc\n", 4, "has more words than the 2 that it may have");
  refuse("a\nb\na\n", 9, "has \"a\" twice");
  refuse("a\nb", 9, "word 1 is cut off");
  refuse("a\n\n", 9, "word 1 is empty");
}

TEST(WordVocabularyTest, KeepsTheMostFrequentInAFixedOrder) {
  const WordVocabulary vocabulary(ListOf({{"b", 3}, {"a", 3}, {"c", 9}, {"rare", 1}}), 5);
  EXPECT_EQ(vocabulary.IdOf("c"), 2);
  EXPECT_EQ(vocabulary.IdOf("a"), 3);
  EXPECT_EQ(vocabulary.IdOf("b"), 4);
  EXPECT_EQ(vocabulary.IdOf("rare"), WordVocabulary::kUnknown);
  EXPECT_EQ(vocabulary.hash(), WordVocabulary(ListOf({{"a", 2}, {"b", 2}, {"c", 8}}), 10).hash())
      << "the same words, whatever the counts";
  EXPECT_NE(vocabulary.hash(), WordVocabulary(ListOf({{"a", 2}, {"b", 3}, {"c", 8}}), 10).hash());
}

class ImdbDatasetTest : public DataFolderTest {
 protected:
  ImdbDatasetTest() {
    Write("train/neg/0_1.txt", "bad bad film");
    Write("train/neg/1_2.txt", "Bad.");
    Write("train/pos/0_9.txt", "good film . .");
    Write("train/pos/readme", "no review");
    Write("test/neg/0_3.txt", "bad acting in a film");
    Write("test/pos/0_8.txt", "");
  }
};

TEST_F(ImdbDatasetTest, ReviewsBecomeIdsOfTheTrainingSet) {
  const auto training = ImdbDataset::Load(folder_, Split::kTraining, 100, 3);
  ASSERT_TRUE(training.ok()) << training.status();
  // "." and "bad" thrice, "film" twice, "good" once; also of words that are cut off.
  const WordVocabulary vocabulary = (*training)->BuildVocabulary();
  EXPECT_EQ(vocabulary.Encode(), ".\nbad\nfilm\ngood\n");
  (*training)->Translate(vocabulary);
  EXPECT_EQ(ToString((*training)->sample_shape()), "sequences of 3 tokens with a label a sample");
  EXPECT_EQ((*training)->sample_shape().vocabulary, 100);
  EXPECT_EQ((*training)->sample_shape().classes, 2);
  const auto all = FetchAll(**training);
  EXPECT_EQ(all->tokens, (Numbers{3, 3, 4, 3, 2, 0, 5, 4, 2}));
  EXPECT_EQ(all->labels, (Numbers{0, 0, 1}));

  const auto test = ImdbDataset::Load(folder_, Split::kTest, 100, 6);
  ASSERT_TRUE(test.ok()) << test.status();
  (*test)->Translate(vocabulary);
  EXPECT_EQ(FetchAll(**test)->tokens, (Numbers{3, 1, 1, 1, 4, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(FetchAll(**test)->labels, (Numbers{0, 1}));
}

TEST_F(ImdbDatasetTest, MissingFoldersNameTheLayout) {
  std::filesystem::remove(Path("train/pos/0_9.txt"));
  ExpectRefused(ImdbDataset::Load(folder_, Split::kTraining, 100, 3).status(),
                absl::StatusCode::kNotFound,
                {"--data_dir=" + folder_, "train/pos holds no .txt file",
                 "train/pos/*.txt, train/neg/*.txt"});
  std::filesystem::remove_all(Path("train/neg"));
  ExpectRefused(ImdbDataset::Load(folder_, Split::kTraining, 100, 3).status(),
                absl::StatusCode::kNotFound, {"has no folder train/neg"});
}

}  // namespace
}  // namespace ringside
