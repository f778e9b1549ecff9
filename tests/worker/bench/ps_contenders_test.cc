#include "worker/bench/ps_contenders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Names(const std::vector<PsContender>& contenders) {
  std::vector<std::string> names;
  for (const PsContender& each : contenders) names.push_back(each.name);
  return names;
}

TEST(PsContendersTest, ALinkThatTheServerLacksHasItsCeilingOnly) {
  EXPECT_THAT(Names(PsContendersOf({"grpc_tcp", "grpc_uds"}, {"grpc_tcp"})),
              ElementsAre("raw/grpc_tcp/callback", "raw/grpc_tcp/sync", "ps/grpc_tcp",
                          "raw/grpc_uds/callback", "raw/grpc_uds/sync", "add", "fold"));
  EXPECT_THAT(Names(PsContendersOf({"shm"}, {"shm"})),
              ElementsAre("memory", "ps/shm", "add", "fold"));
}

TEST(PsContendersTest, EveryContenderIsFoundByItsName) {
  for (const PsContender& each :
       PsContendersOf({"grpc_tcp", "grpc_uds", "shm"}, {"grpc_tcp", "grpc_uds", "shm"})) {
    const auto found = FindPsContender(each.name);
    ASSERT_TRUE(found.ok()) << each.name;
    EXPECT_EQ(found->kind, each.kind);
    EXPECT_EQ(found->link, each.link);
  }
  EXPECT_TRUE(absl::IsInvalidArgument(FindPsContender("ps/pigeon").status()));
}

TEST(PsContendersTest, NamesSelect) {
  const std::vector<PsContender> all = PsContendersOf({"shm"}, {"shm"});
  EXPECT_THAT(Names(*SelectPsContenders(all, {})), ElementsAre("memory", "ps/shm", "add", "fold"));
  EXPECT_THAT(Names(*SelectPsContenders(all, {"fold", "ps/shm"})), ElementsAre("ps/shm", "fold"));
  const absl::Status status = SelectPsContenders(all, {"ps/grpc_tcp"}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("memory, ps/shm, add, fold"));
}

TEST(PsContendersTest, ACeilingMayHaveSeveralVariants) {
  EXPECT_TRUE(IsCeiling("raw/grpc_tcp", "raw/grpc_tcp/sync"));
  EXPECT_TRUE(IsCeiling("memory", "memory"));
  EXPECT_FALSE(IsCeiling("raw/grpc_tcp", "raw/grpc_tcp2/sync"));
  EXPECT_FALSE(IsCeiling("", "memory"));
}

}  // namespace
}  // namespace ringside
