#include "common/process_info.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace ringside {
namespace {

TEST(ProcessInfoTest, DescribesThisProcess) {
  const ProcessInfo info = ReadProcessInfo();
  EXPECT_FALSE(info.hostname().empty());
  EXPECT_EQ(info.pid(), getpid());
  EXPECT_GE(info.cpus_size(), 1);
  EXPECT_GE(info.cpu_seconds(), 0);
  EXPECT_GT(info.peak_rss_bytes(), 1 << 20);
}

}  // namespace
}  // namespace ringside
