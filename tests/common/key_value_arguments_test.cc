#include "common/key_value_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

struct Sizes {
  int64_t rows = 7;
  double dropout = 0.5;
  std::vector<int64_t> hidden = {3};
  double pace = 2;
  std::string file = "none";
  std::string order = "up";
};

absl::Status Read(const std::string& text, Sizes* sizes) {
  KeyValueArguments arguments("some_args", "--thing=x", text);
  arguments.Integer("rows", 1, &sizes->rows);
  arguments.Probability("dropout", &sizes->dropout);
  arguments.Integers("hidden", 1, &sizes->hidden);
  arguments.Number("pace", 0.5, &sizes->pace);
  arguments.Text("file", &sizes->file);
  arguments.Choice("order", {"up", "down"}, &sizes->order);
  return arguments.Finish();
}

TEST(KeyValueArgumentsTest, OverwritesWhatIsGiven) {
  Sizes sizes;
  EXPECT_TRUE(Read("", &sizes).ok());
  EXPECT_EQ(sizes.rows, 7);
  EXPECT_TRUE(Read("hidden=5,6,rows=9", &sizes).ok());
  EXPECT_EQ(sizes.rows, 9);
  EXPECT_EQ(sizes.dropout, 0.5);
  EXPECT_EQ(sizes.hidden, (std::vector<int64_t>{5, 6}));
  EXPECT_TRUE(Read("hidden=,dropout=0.25", &sizes).ok());
  EXPECT_EQ(sizes.dropout, 0.25);
  EXPECT_TRUE(sizes.hidden.empty());
  EXPECT_TRUE(Read("pace=0.5,file=a b,order=down", &sizes).ok());
  EXPECT_EQ(sizes.pace, 0.5);
  EXPECT_EQ(sizes.file, "a b");
  EXPECT_EQ(sizes.order, "down");
}

TEST(KeyValueArgumentsTest, EveryErrorNamesFlagOwnerAndKeys) {
  const auto refuse = [](const std::string& text, const std::string& message) {
    Sizes sizes;
    const absl::Status status = Read(text, &sizes);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              message + "; --thing=x has rows, dropout, hidden, pace, file, order");
  };
  refuse("7", "--some_args=7: must be key=value");
  refuse("rows=1,rows=2", "--some_args=rows=2: was given before");
  refuse("rows=0", "--some_args=rows=0: must be a whole number of at least 1");
  refuse("rows=1.5", "--some_args=rows=1.5: must be a whole number of at least 1");
  refuse("rows=", "--some_args=rows=: must be a whole number of at least 1");
  refuse("dropout=1", "--some_args=dropout=1: must be a number of at least 0 and less than 1");
  refuse("hidden=4,x", "--some_args=hidden=4,x: must be whole numbers of at least 1");
  refuse("pace=inf", "--some_args=pace=inf: must be a number of at least 0.5");
  refuse("order=left", "--some_args=order=left: must be one of up, down");
  refuse("columns=4", "--some_args=columns=4: unknown");
}

}  // namespace
}  // namespace ringside
