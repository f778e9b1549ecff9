#include "common/step_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::HasSubstr;

TEST(StepWindowTest, BothEndsBelongToIt) {
  const auto window = ParseStepWindow("10:20");
  ASSERT_TRUE(window.ok()) << window.status();
  EXPECT_EQ(window->steps(), 11);
  EXPECT_FALSE(window->Contains(9));
  EXPECT_TRUE(window->Contains(10));
  EXPECT_TRUE(window->Contains(20));
  EXPECT_FALSE(window->Contains(21));
  EXPECT_EQ(ParseStepWindow("7:7")->steps(), 1);
}

TEST(StepWindowTest, AsItIsMadeItIsEmpty) {
  EXPECT_TRUE(StepWindow().empty());
  EXPECT_EQ(StepWindow().steps(), 0);
  EXPECT_FALSE(StepWindow().Contains(0));
  EXPECT_FALSE(StepWindow().Contains(1));
}

TEST(StepWindowTest, SaysWhatIsWrong) {
  for (const char* text : {"", "5", "5:", ":5", "a:b", "1:2:3", "1-2"}) {
    EXPECT_THAT(std::string(ParseStepWindow(text).status().message()), HasSubstr("FROM:TO"))
        << text;
  }
  for (const char* text : {"0:5", "-1:5", "6:5"}) {
    EXPECT_THAT(std::string(ParseStepWindow(text).status().message()), HasSubstr("at least 1"))
        << text;
  }
}

}  // namespace
}  // namespace ringside
