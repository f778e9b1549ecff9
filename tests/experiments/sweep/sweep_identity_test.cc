#include "experiments/sweep/sweep_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SweepIdentityTest, NamesWhatDiffers) {
  const SweepIdentity before = {{"kernel", "6.1"}, {"cores", "2"}, {"--data_dir", "a"}};
  const SweepIdentity now = {{"kernel", "6.2"}, {"cores", "2"}};
  EXPECT_THAT(Differences(before, before), IsEmpty());
  EXPECT_THAT(Differences(before, now), ElementsAre("--data_dir was \"a\" and is not told",
                                                    "kernel was \"6.1\" and is \"6.2\""));
}

TEST(SweepIdentityTest, ABuildIsKnownByItsBinaries) {
  std::string folder = ::testing::TempDir() + "/identity_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/worker") << "one";
  const SweepIdentity before = BuildAndMachine(folder);
  EXPECT_EQ(before, BuildAndMachine(folder));
  EXPECT_NE(before.at("cores"), "");
  EXPECT_NE(before.at("kernel"), "");
  EXPECT_EQ(before.at("SHA-256 of worker").size(), 64u);
  EXPECT_EQ(before.at("SHA-256 of ps_server"), "");  // is not there
  std::ofstream(folder + "/worker") << "two";
  EXPECT_EQ(Differences(before, BuildAndMachine(folder)).size(), 1u);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ringside
