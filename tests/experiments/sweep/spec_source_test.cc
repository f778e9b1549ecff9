#include "experiments/sweep/spec_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr char kText[] = R"(# A comment.
question: "Which?"
flags: "steps=5"
flags: ["seed=2",
        "epochs=0"]
strategy { name: "ps" flags: "ps_shards=2" }
strategy {
  name: "ring"
}
workers: [1, 2]
vary {
  setting: "bucket_bytes"
  values: "64"
  values: "128"
}
)";

TEST(SpecSourceTest, KnowsTheLineOfEachField) {
  const auto source = ParseSpec("a.textproto", kText);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->spec.strategy_size(), 2);
  EXPECT_THAT(source->lines, Contains(Pair("question", 2)));
  EXPECT_THAT(source->lines, Contains(Pair("flags[0]", 3)));
  EXPECT_THAT(source->lines, Contains(Pair("flags[1]", 4)));
  EXPECT_THAT(source->lines, Contains(Pair("flags[2]", 5)));
  EXPECT_THAT(source->lines, Contains(Pair("strategy[0].flags[0]", 6)));
  EXPECT_THAT(source->lines, Contains(Pair("strategy[1].name", 8)));
  EXPECT_THAT(source->lines, Contains(Pair("workers[1]", 10)));
  EXPECT_THAT(source->lines, Contains(Pair("vary[0].values[1]", 14)));
}

TEST(SpecSourceTest, ErrorsNameFileLineAndField) {
  const auto source = ParseSpec("a.textproto", kText);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->Error("vary[0].values[0]", "must be larger").message(),
            "a.textproto:13: vary[0].values[0]: must be larger");
  EXPECT_EQ(source->Error("trials", "must be there").message(),
            "a.textproto: trials: must be there");
  EXPECT_EQ(source->Error("", "is odd").message(), "a.textproto: is odd");
}

TEST(SpecSourceTest, RefusesWhatIsNoSpec) {
  const auto message = [](const std::string& text) {
    return std::string(ParseSpec("a.textproto", text).status().message());
  };
  EXPECT_THAT(message("question: \"Which?\"\nstrategies { name: \"ps\" }\n"),
              AllOf(StartsWith("a.textproto:2: "), HasSubstr("no field named \"strategies\"")));
  EXPECT_THAT(message("\nworkers: \"two\"\n"), StartsWith("a.textproto:2: "));
  EXPECT_THAT(message("scaling: STRNG trials: 1\n"),
              AllOf(StartsWith("a.textproto:1: "), HasSubstr("\"scaling\"")));
  EXPECT_THAT(message("strategy { name: \"ps\"\n"), StartsWith("a.textproto:"));
}

}  // namespace
}  // namespace ringside
