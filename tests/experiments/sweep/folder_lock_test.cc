#include "experiments/sweep/folder_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "absl/types/optional.h"

namespace ringside {
namespace {

TEST(FolderLockTest, OneAtATime) {
  std::string folder = ::testing::TempDir() + "/lock_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  absl::optional<FolderLock> first = *FolderLock::Acquire(folder);
  const absl::Status refused = FolderLock::Acquire(folder).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("is at work there"));
  first.reset();
  EXPECT_TRUE(FolderLock::Acquire(folder).ok());
  std::filesystem::remove_all(folder);
  EXPECT_EQ(FolderLock::Acquire(folder).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ringside
