#include "allreduce/bench/contender_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr BuiltBaselines kAll = {true, true};

std::vector<std::string> Names(const std::vector<Contender>& contenders) {
  std::vector<std::string> names;
  for (const Contender& each : contenders) names.push_back(each.name);
  return names;
}

std::vector<std::string> Selected(const std::vector<std::string>& names,
                                  const BuiltBaselines& built = kAll) {
  const auto selected = SelectContenders(names, built);
  EXPECT_TRUE(selected.ok()) << selected.status();
  return selected.ok() ? Names(*selected) : std::vector<std::string>();
}

TEST(SelectContendersTest, PutsTheCeilingsThatBoundThemFirst) {
  EXPECT_THAT(Selected({"ring_tcp"}), ElementsAre("raw_tcp", "ring_tcp"));
  EXPECT_THAT(Selected({"direct", "ring_uds", "auto"}),
              ElementsAre("memory", "raw_uds", "direct", "ring_uds", "auto"));
  EXPECT_THAT(Selected({"mpi_tcp", "mpi"}), ElementsAre("raw_tcp", "memory", "mpi_tcp", "mpi"));
}

TEST(SelectContendersTest, TakesEachOnce) {
  EXPECT_THAT(Selected({"ring_tcp", "raw_tcp", "ring_tcp"}), ElementsAre("raw_tcp", "ring_tcp"));
  EXPECT_THAT(Selected({"gloo_bcube", "gloo"}),
              ElementsAre("raw_tcp", "gloo_bcube", "gloo_ring", "gloo_ring_chunked"));
}

TEST(SelectContendersTest, GlooStandsForItsThreeAlgorithms) {
  EXPECT_THAT(Selected({"gloo_stock"}), ElementsAre("raw_tcp", "gloo_ring_stock",
                                                    "gloo_ring_chunked_stock", "gloo_bcube_stock"));
}

TEST(SelectContendersTest, WithoutNamesTakesWhatIsBuilt) {
  EXPECT_THAT(Selected({}, {false, false}), ElementsAre("raw_tcp", "raw_uds", "memory", "ring_tcp",
                                                        "ring_uds", "ring_shm", "direct", "auto"));
  EXPECT_THAT(Selected({}, {false, true}),
              ElementsAre("raw_tcp", "raw_uds", "memory", "ring_tcp", "ring_uds", "ring_shm",
                          "direct", "auto", "mpi", "mpi_tcp"));
}

TEST(SelectContendersTest, RefusesUnknownNamesAndListsTheKnown) {
  const absl::Status status = SelectContenders({"nccl"}, kAll).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("unknown contender \"nccl\""));
  EXPECT_THAT(std::string(status.message()), HasSubstr("ring_shm_unregistered"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("mpi_tcp_stock"));
}

TEST(SelectContendersTest, SaysHowToBuildWhatIsMissing) {
  const absl::Status gloo = SelectContenders({"gloo"}, {false, true}).status();
  EXPECT_EQ(gloo.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(gloo.message()), HasSubstr("libgloo-dev"));
  const absl::Status mpi = SelectContenders({"mpi_heap"}, {true, false}).status();
  EXPECT_THAT(std::string(mpi.message()), HasSubstr("openmpi-bin"));
}

TEST(ContenderCatalogTest, GroupsShareOneEnvironment) {
  EXPECT_EQ(FindContender("ring_tcp")->group, "own");
  EXPECT_EQ(FindContender("memory")->group, "own");
  EXPECT_EQ(FindContender("gloo_bcube")->group, "gloo");
  EXPECT_EQ(FindContender("mpi_heap")->group, "mpi");
  EXPECT_EQ(FindContender("mpi_tcp_stock")->group, "mpi_tcp_stock");
  EXPECT_TRUE(FindGroup("own").tuned_malloc);
  EXPECT_FALSE(FindGroup("own").mpirun);
  EXPECT_TRUE(FindGroup("mpi").tuned_malloc);
  EXPECT_TRUE(FindGroup("mpi").mpirun);
  EXPECT_FALSE(FindGroup("mpi").mpi_over_tcp);
  EXPECT_TRUE(FindGroup("mpi_tcp_stock").mpi_over_tcp);
  EXPECT_FALSE(FindGroup("mpi_tcp_stock").tuned_malloc);
}

TEST(ContenderCatalogTest, KnowsWhoseBuffersAreArenas) {
  EXPECT_TRUE(FindContender("ring_shm")->arenas);
  EXPECT_FALSE(FindContender("ring_shm_unregistered")->arenas);
  EXPECT_TRUE(FindContender("mpi_stock")->arenas);
  EXPECT_FALSE(FindContender("mpi_heap_stock")->arenas);
}

}  // namespace
}  // namespace ringside
