#include "common/durable_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DurableFolderTest : public ::testing::Test {
 protected:
  DurableFolderTest() {
    std::string name = testing::TempDir() + "/durable_folder_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~DurableFolderTest() override { fs::remove_all(folder_); }

  absl::StatusOr<DurableFolder> Open(bool writable) const {
    return DurableFolder::Create({"--some_dir", folder_, "step-", ".x"}, writable);
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void Touch(const std::string& name) const { std::ofstream(folder_ + "/" + name) << "x"; }

  std::string folder_;
};

absl::StatusOr<int64_t> WriteX(const std::string& path) {
  std::ofstream(path) << "x";
  return 1;
}

TEST_F(DurableFolderTest, AFileAppearsWholeUnderItsName) {
  const DurableFolder folder = *Open(true);
  const auto bytes = folder.Save(12, [&](const std::string& path) {
    EXPECT_EQ(path, folder.PathOf(12) + ".partial");
    return WriteX(path);
  });
  EXPECT_EQ(*bytes, 1);
  EXPECT_THAT(Names(), ElementsAre("step-000012.x"));
  ASSERT_TRUE(folder.Save(1234567, WriteX).ok());
  EXPECT_THAT(folder.Steps(), ElementsAre(1234567u, 12u));
  ASSERT_TRUE(folder.Remove(12).ok());
  ASSERT_TRUE(folder.Remove(12).ok());
  EXPECT_THAT(folder.Steps(), ElementsAre(1234567u));
}

TEST_F(DurableFolderTest, AnErrorLeavesNothing) {
  const DurableFolder folder = *Open(true);
  ASSERT_TRUE(folder.Save(1, WriteX).ok());
  const auto failed = folder.Save(1, [](const std::string& path) -> absl::StatusOr<int64_t> {
    WriteX(path).IgnoreError();
    return absl::ResourceExhaustedError("disk full");
  });
  EXPECT_EQ(failed.status(), absl::ResourceExhaustedError("disk full"));
  EXPECT_THAT(Names(), ElementsAre("step-000001.x"));
}

TEST_F(DurableFolderTest, LeftoversOfACrashAreRemovedByWhoeverWritesThere) {
  Touch("step-000003.x.partial");
  Touch("step-3.x.partial");
  Touch("other-000003.x.partial");
  EXPECT_TRUE(Open(false)->Steps().empty());
  EXPECT_EQ(Names().size(), 3u);
  EXPECT_TRUE(Open(true)->Steps().empty());
  EXPECT_THAT(Names(), ElementsAre("other-000003.x.partial", "step-3.x.partial"));
}

TEST_F(DurableFolderTest, AFolderThatIsMissingIsMadeForWritersOnly) {
  folder_ += "/deep/down";
  const absl::Status missing = Open(false).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("--some_dir=" + folder_));
  EXPECT_TRUE(Open(true).ok());
  EXPECT_TRUE(Open(false).ok());
}

}  // namespace
}  // namespace ringside
