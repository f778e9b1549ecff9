#include "experiments/child_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::UnorderedElementsAre;

TEST(ChildEnvironmentTest, KeepsTheUsersAndRemovesOtherLaunchersRanks) {
  const Environment base = {
      {"PATH", "/bin"},          {"RANK", "3"},       {"WORLD_SIZE", "8"},
      {"SLURM_PROCID", "0"},     {"PMI_RANK", "1"},   {"OMPI_COMM_WORLD_RANK", "1"},
      {"MASTER_ADDR", "node0"},  {"PMIX_RANK", "2"},  {"OPENBLAS_NUM_THREADS", "16"},
      {"RINGSIDE_TOKEN", "old"}, {"RANKING", "kept"}, {"LOCAL_RANK", "0"}};
  EXPECT_THAT(ChildEnvironment(base, "secret", 2),
              UnorderedElementsAre("PATH=/bin", "RANKING=kept", "RINGSIDE_TOKEN=secret",
                                   "GRPC_ENABLE_FORK_SUPPORT=0", "OPENBLAS_NUM_THREADS=2",
                                   "OMP_NUM_THREADS=2"));
}

}  // namespace
}  // namespace ringside
