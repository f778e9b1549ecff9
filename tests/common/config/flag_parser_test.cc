#include "common/config/flag_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/flags/flag.h"

ABSL_FLAG(int, parser_test_count, 3, "a number");
ABSL_FLAG(bool, parser_test_switch, false, "a switch");

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<CommandLine> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  return ParseFlags(static_cast<int>(arguments.size()), arguments.data());
}

TEST(FlagParserTest, AcceptsEveryUsualForm) {
  ASSERT_TRUE(Parse({"--parser_test_count=5"}).ok());
  EXPECT_EQ(absl::GetFlag(FLAGS_parser_test_count), 5);
  ASSERT_TRUE(Parse({"-parser_test_count", "6", "--parser_test_switch"}).ok());
  EXPECT_EQ(absl::GetFlag(FLAGS_parser_test_count), 6);
  EXPECT_TRUE(absl::GetFlag(FLAGS_parser_test_switch));
  ASSERT_TRUE(Parse({"--noparser_test_switch"}).ok());
  EXPECT_FALSE(absl::GetFlag(FLAGS_parser_test_switch));
}

TEST(FlagParserTest, SeparatesPositionalArguments) {
  const auto line = Parse({"run", "--parser_test_count=1", "x", "--", "--parser_test_count=2"});
  ASSERT_TRUE(line.ok());
  EXPECT_THAT(line->positional, ElementsAre("run", "x", "--parser_test_count=2"));
  EXPECT_TRUE(line->Has("parser_test_count"));
  EXPECT_FALSE(line->Has("parser_test_switch"));
  EXPECT_EQ(absl::GetFlag(FLAGS_parser_test_count), 1);
}

TEST(FlagParserTest, NamesTheCulprit) {
  EXPECT_THAT(Parse({"--parser_test_cuont=1"}).status().message(),
              HasSubstr("unknown flag --parser_test_cuont; did you mean --parser_test_count?"));
  EXPECT_THAT(Parse({"--quite_another_thing"}).status().message(), HasSubstr("--help lists all"));
  EXPECT_THAT(Parse({"--parser_test_count=many"}).status().message(),
              HasSubstr("--parser_test_count=many: not a valid value"));
  EXPECT_THAT(Parse({"--parser_test_count"}).status().message(), HasSubstr("needs a value"));
  EXPECT_THAT(Parse({"--flagfile=x"}).status().message(), HasSubstr("unknown flag"));
}

TEST(FlagParserTest, HelpListsOurFlagsOnly) {
  EXPECT_TRUE(Parse({"--help"})->help);
  EXPECT_THAT(FlagHelp(), HasSubstr("--parser_test_count=3"));
  EXPECT_EQ(FlagHelp().find("--flagfile"), std::string::npos);
}

}  // namespace
}  // namespace ringside
