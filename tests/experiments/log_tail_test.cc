#include "experiments/log_tail.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace ringside {
namespace {

TEST(LogTailTest, LastLineSkipsEmptyOnes) {
  EXPECT_EQ(LastLine("one\ntwo\n\n  \n"), "two");
  EXPECT_EQ(LastLine("only"), "only");
  EXPECT_EQ(LastLine(""), "");
  EXPECT_EQ(LastLine("\n\n"), "");
}

TEST(LogTailTest, ErrorsGoBeforeWhatCameAfterThem) {
  EXPECT_EQ(LastLine("12:00:01.123 worker 1: error: cannot read\nterminate called\n"),
            "12:00:01.123 worker 1: error: cannot read");
}

TEST(LogTailTest, StripsTimeNameAndLevel) {
  EXPECT_EQ(StripLogPrefix("12:00:01.123 worker 2: error: --batch_size=0: must be at least 1"),
            "--batch_size=0: must be at least 1");
  EXPECT_EQ(StripLogPrefix("12:00:01.123 shard 0: warning: slow"), "slow");
  EXPECT_EQ(StripLogPrefix("12:00:01.123 shard 0: started"), "started");
  EXPECT_EQ(StripLogPrefix("error while loading shared libraries: libtorch.so"),
            "error while loading shared libraries: libtorch.so");
  EXPECT_EQ(StripLogPrefix(""), "");
}

TEST(LogTailTest, ReadsTheEndOfALongFile) {
  const std::string path = ::testing::TempDir() + "/log_tail_test.log";
  {
    std::ofstream file(path);
    for (int i = 0; i < 10000; ++i) file << "line " << i << "\n";
  }
  EXPECT_EQ(LastLogLine(path), "line 9999");
  EXPECT_EQ(LastLogLine(path + ".missing"), "");
}

}  // namespace
}  // namespace ringside
