#include "worker/models/model_arguments.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside {
namespace {

struct Sizes {
  int64_t classes = 10;
  std::vector<int64_t> hidden = {1};
  double dropout = 0.5;
};

absl::Status Read(absl::string_view text, Sizes* sizes) {
  ModelArguments arguments("mlp", text);
  arguments.Integer("classes", 2, &sizes->classes);
  arguments.Integers("hidden", 1, &sizes->hidden);
  arguments.Probability("dropout", &sizes->dropout);
  return arguments.Finish();
}

std::string Refusal(absl::string_view text) {
  Sizes sizes;
  return std::string(Read(text, &sizes).message());
}

TEST(ModelArgumentsTest, DefaultsStayWhereNothingIsGiven) {
  Sizes sizes;
  ASSERT_TRUE(Read("", &sizes).ok());
  EXPECT_EQ(sizes.classes, 10);
  EXPECT_EQ(sizes.hidden, std::vector<int64_t>{1});
  EXPECT_EQ(sizes.dropout, 0.5);
}

TEST(ModelArgumentsTest, ReadsNumbersAndLists) {
  Sizes sizes;
  ASSERT_TRUE(Read("hidden=2560,512,classes=1000,dropout=0.1", &sizes).ok());
  EXPECT_EQ(sizes.classes, 1000);
  EXPECT_EQ(sizes.hidden, (std::vector<int64_t>{2560, 512}));
  EXPECT_EQ(sizes.dropout, 0.1);
  ASSERT_TRUE(Read("hidden=", &sizes).ok());
  EXPECT_TRUE(sizes.hidden.empty());
}

TEST(ModelArgumentsTest, ErrorsNameTheKeyTheModelAndTheKeysThereAre) {
  const std::string has = "; --model=mlp has classes, hidden, dropout";
  EXPECT_EQ(Refusal("width=3"), "--model_args=width=3: unknown" + has);
  EXPECT_EQ(Refusal("classes=ten"),
            "--model_args=classes=ten: must be a whole number of at least 2" + has);
  EXPECT_EQ(Refusal("classes=1"),
            "--model_args=classes=1: must be a whole number of at least 2" + has);
  EXPECT_EQ(Refusal("classes=3,4"),
            "--model_args=classes=3,4: must be a whole number of at least 2" + has);
  EXPECT_EQ(Refusal("hidden=3,0"),
            "--model_args=hidden=3,0: must be whole numbers of at least 1" + has);
  EXPECT_EQ(Refusal("dropout=1"),
            "--model_args=dropout=1: must be a number of at least 0 and less than 1" + has);
  EXPECT_EQ(Refusal("dropout=nan"),
            "--model_args=dropout=nan: must be a number of at least 0 and less than 1" + has);
  EXPECT_EQ(Refusal("12"), "--model_args=12: must be key=value" + has);
  EXPECT_EQ(Refusal("classes=3,classes=4"), "--model_args=classes=4: was given before" + has);
  EXPECT_EQ(Refusal("=4"), "--model_args==4: unknown" + has);
}

}  // namespace
}  // namespace ringside
