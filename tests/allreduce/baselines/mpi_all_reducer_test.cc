#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/process.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

std::string FindMpirun() {
  for (const char* path : {"/usr/bin/mpirun", "/usr/local/bin/mpirun"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return "";
}

TEST(MpiAllReducerTest, SumsUnderMpirun) {
  const std::string mpirun = FindMpirun();
  if (mpirun.empty()) GTEST_SKIP() << "mpirun is not installed (package openmpi-bin)";
  for (const int ranks : {1, 2, 3}) {
    TestProcess::Config config;
    config.argv = {mpirun, "--oversubscribe", "--bind-to", "none"};
    if (geteuid() == 0) config.argv.push_back("--allow-run-as-root");
    config.argv.insert(config.argv.end(), {"-n", absl::StrCat(ranks), RINGSIDE_MPI_SUMS});
    const TestProcess::Ended ended = RunProcess(config, absl::Seconds(60));
    EXPECT_EQ(ended.status, 0) << ended.output;
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_THAT(ended.output,
                  HasSubstr(absl::StrCat("rank ", rank, " of ", ranks, ": all sums are right")));
    }
  }
}

}  // namespace
}  // namespace ringside
