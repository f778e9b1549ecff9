#include "common/launch/hostlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct HostlistCase {
  std::string text;
  std::vector<std::string> hosts;
};

TEST(ExpandHostlistTest, ExpandsWhatSlurmWrites) {
  const HostlistCase cases[] = {
      {"n0", {"n0"}},
      {"n0,n1", {"n0", "n1"}},
      {"n[0]", {"n0"}},
      {"n[0-3,7]", {"n0", "n1", "n2", "n3", "n7"}},
      {"n[3,1,2]", {"n3", "n1", "n2"}},
      {"n[008-011]", {"n008", "n009", "n010", "n011"}},
      {"n[98-101]", {"n98", "n99", "n100", "n101"}},
      {"n[098-101]", {"n098", "n099", "n100", "n101"}},
      {"n[1-2]-ib", {"n1-ib", "n2-ib"}},
      {"[1-2]", {"1", "2"}},
      {"r[0-1]n[0-2]", {"r0n0", "r0n1", "r0n2", "r1n0", "r1n1", "r1n2"}},
      {"a[0-1]b[0-1]c[0-1]",
       {"a0b0c0", "a0b0c1", "a0b1c0", "a0b1c1", "a1b0c0", "a1b0c1", "a1b1c0", "a1b1c1"}},
      {"n[0-3,7],gpu-a[001-003,010]-ib[0-1]",
       {"n0", "n1", "n2", "n3", "n7", "gpu-a001-ib0", "gpu-a001-ib1", "gpu-a002-ib0",
        "gpu-a002-ib1", "gpu-a003-ib0", "gpu-a003-ib1", "gpu-a010-ib0", "gpu-a010-ib1"}},
      {"node-1.example.org,x[1-1]", {"node-1.example.org", "x1"}},
  };
  for (const HostlistCase& test : cases) {
    const auto hosts = ExpandHostlist(test.text);
    ASSERT_TRUE(hosts.ok()) << test.text << ": " << hosts.status();
    EXPECT_EQ(*hosts, test.hosts) << test.text;
  }
}

TEST(ExpandHostlistTest, NamesWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "an empty name"},
      {"n1,,n2", "an empty name"},
      {"n1,", "an empty name"},
      {"n[1-3", "without \"]\""},
      {"n1-3]", "without \"[\""},
      {"n[1-[2]]", "brackets within brackets"},
      {"n[]", "no number or range"},
      {"n[a]", "\"a\" in brackets"},
      {"n[1-]", "\"1-\" in brackets"},
      {"n[-1]", "\"-1\" in brackets"},
      {"n[1-2-3]", "\"1-2-3\" in brackets"},
      {"n[1,,2]", "\"\" in brackets"},
      {"n[3-1]", "runs backwards"},
      {"n1 n2", "blanks"},
      {"n[0-65536]", "more than 65536"},
      {"n[0-999999999]", "more than 65536"},
      {"n[0-99999999999999999999]", "no number or range"},
      {"a[0-999]b[0-999]c[0-999]", "more than 65536"},
      {"a[0-65535],b", "more than 65536"},
  };
  for (const auto& [text, message] : cases) {
    const auto hosts = ExpandHostlist(text);
    ASSERT_EQ(hosts.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(hosts.status().message()), HasSubstr(message)) << text;
    EXPECT_THAT(std::string(hosts.status().message()), HasSubstr(absl::StrCat("\"", text, "\"")));
  }
}

TEST(ExpandHostlistTest, TakesTheLargestListItPromises) {
  const auto hosts = ExpandHostlist("n[0-65535]");
  ASSERT_TRUE(hosts.ok());
  EXPECT_EQ(hosts->size(), 65536u);
  EXPECT_EQ(hosts->back(), "n65535");
}

TEST(ExpandTasksPerNodeTest, Expands) {
  EXPECT_THAT(*ExpandTasksPerNode("2(x2),1"), ElementsAre(2, 2, 1));
  EXPECT_THAT(*ExpandTasksPerNode("4"), ElementsAre(4));
  EXPECT_THAT(*ExpandTasksPerNode("1,2(x1),0"), ElementsAre(1, 2, 0));
  EXPECT_EQ(ExpandTasksPerNode("1(x65536)")->size(), 65536u);
}

TEST(ExpandTasksPerNodeTest, NamesWhatIsWrong) {
  for (const char* text : {"", "2,", "x2", "2(x)", "2(x2", "2(x0)", "2(2)", "-1", "2(x2)3", "(x2)",
                           "1(x65537)", "65537", "1(x99999999999)", "1,1(x65536)"}) {
    const auto tasks = ExpandTasksPerNode(text);
    ASSERT_EQ(tasks.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(tasks.status().message()), HasSubstr(absl::StrCat("\"", text, "\"")));
  }
}

}  // namespace
}  // namespace ringside
