#include "allreduce/bench/group_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string> kBase = {"PATH=/usr/bin", "MALLOC_ARENA_MAX=9", "SLURM_JOB_ID=7",
                                        "OMPI_COMM_WORLD_RANK=3",
                                        "GLIBC_TUNABLES=glibc.malloc.check=3"};

GroupCommand Make(const char* group, bool as_root = false) {
  return MakeGroupCommand(FindGroup(group), 2, "/bin/bench", "abc", as_root, kBase);
}

TEST(GroupCommandTest, StartsOneProcessARank) {
  EXPECT_THAT(Make("own").argvs,
              ElementsAre(ElementsAre("/bin/bench", "--role=rank", "--control=abc", "--rank=0"),
                          ElementsAre("/bin/bench", "--role=rank", "--control=abc", "--rank=1")));
}

TEST(GroupCommandTest, TunedGroupsNeverGiveMemoryBack) {
  for (const char* group : {"own", "gloo", "mpi", "mpi_tcp"}) {
    EXPECT_THAT(Make(group).environment,
                IsSupersetOf({"PATH=/usr/bin", "MALLOC_MMAP_MAX_=0", "MALLOC_ARENA_MAX=1",
                              "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"}))
        << group;
    EXPECT_THAT(Make(group).environment, Not(Contains("MALLOC_ARENA_MAX=9"))) << group;
  }
}

TEST(GroupCommandTest, StockGroupsAndMpirunGetNothingFromOutside) {
  EXPECT_THAT(Make("gloo_stock").environment, ElementsAre("PATH=/usr/bin"));
  EXPECT_THAT(Make("mpi_stock").environment, ElementsAre("PATH=/usr/bin"));
  EXPECT_THAT(Make("mpi").environment, Not(Contains(StartsWith("SLURM_"))));
}

TEST(GroupCommandTest, OneMpirunStartsAllRanks) {
  EXPECT_THAT(
      Make("mpi").argvs,
      ElementsAre(ElementsAre("mpirun", "--oversubscribe", "--bind-to", "none", "--tag-output",
                              "-n", "2", "/bin/bench", "--role=rank", "--control=abc")));
  EXPECT_THAT(Make("mpi", true).argvs[0], Contains("--allow-run-as-root"));
  EXPECT_THAT(Make("mpi_tcp_stock").argvs[0], IsSupersetOf({"btl", "tcp,self"}));
}

}  // namespace
}  // namespace ringside
