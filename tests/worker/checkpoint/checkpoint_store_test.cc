#include "worker/checkpoint/checkpoint_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/worker/checkpoint/temporary_folder.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CheckpointStoreTest : public CheckpointFolderTest {
 protected:
  CheckpointStore Open(int keep = 2, const std::string& resumed_from = "") const {
    auto store = CheckpointStore::Create({folder_, keep, resumed_from});
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  absl::Status Save(const CheckpointStore& store, int64_t step) {
    return store.Save(After(step), State()).status();
  }
};

TEST_F(CheckpointStoreTest, TheLastFewAreKept) {
  for (int keep : {1, 2, 3}) {
    folder_ += "/deeper";
    const CheckpointStore store = Open(keep);
    for (int64_t step : {10, 20, 30, 1'000'000}) ASSERT_TRUE(Save(store, step).ok());
    EXPECT_EQ(store.List().size(), static_cast<size_t>(keep));
    EXPECT_EQ(store.List().front(), 1'000'000u);
  }
}

TEST_F(CheckpointStoreTest, ATrainingThatWentBackForgetsWhatCameAfter) {
  ASSERT_TRUE(Save(Open(5), 10).ok());
  CheckpointStore store = Open(5, folder_ + "/step-000010.ckpt");
  for (int64_t step : {20, 30}) ASSERT_TRUE(Save(store, step).ok());
  store = Open(5, folder_ + "/./step-000010.ckpt");
  ASSERT_TRUE(Save(store, 15).ok());
  EXPECT_THAT(store.List(), ElementsAre(15u, 10u));
}

TEST_F(CheckpointStoreTest, AnotherTrainingsFolderIsRefused) {
  ASSERT_TRUE(Save(Open(), 10).ok());
  for (const char* resumed_from : {"", "/elsewhere/step-000010.ckpt"}) {
    const absl::Status status = CheckpointStore::Create({folder_, 2, resumed_from}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
    EXPECT_THAT(std::string(status.message()), HasSubstr("step-000010.ckpt; --resume=latest"));
  }
}

TEST_F(CheckpointStoreTest, LeftoversAreIgnoredAndDamagedFilesDoNotCount) {
  std::ofstream(folder_ + "/step-000099.ckpt.partial") << "torn";
  std::ofstream(folder_ + "/notes.txt") << "mine";
  const CheckpointStore store = Open();
  EXPECT_THAT(Names(), ElementsAre("notes.txt"));
  for (int64_t step : {10, 20}) ASSERT_TRUE(Save(store, step).ok());
  fs::resize_file(store.PathOf(20), fs::file_size(store.PathOf(20)) - 1);
  ASSERT_TRUE(Save(store, 30).ok());
  EXPECT_THAT(store.List(), ElementsAre(30u, 10u));
  EXPECT_THAT(store.Names(), ElementsAre(30u, 20u, 10u));
}

TEST_F(CheckpointStoreTest, AFolderThatCannotBeUsedIsNamed) {
  EXPECT_THAT(std::string(CheckpointStore::Create({"", 2, ""}).status().message()),
              HasSubstr("--checkpoint_dir is missing"));
  std::ofstream(folder_ + "/file") << "x";
  const absl::Status status = CheckpointStore::Create({folder_ + "/file", 2, ""}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--checkpoint_dir=" + folder_));
}

TEST_F(CheckpointStoreTest, AFullDiskLeavesTheOthersAsTheyWere) {
  const CheckpointStore store = Open();
  for (int64_t step : {10, 20}) ASSERT_TRUE(Save(store, step).ok());
  parameters_.resize(1 << 18);
  // A limit on the size of files stands for a full disk.
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{1 << 19, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status = Save(store, 30);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  signal(SIGXFSZ, handler);
  EXPECT_THAT(std::string(status.message()), HasSubstr(store.PathOf(30) + ".partial, after"));
  EXPECT_THAT(Names(), ElementsAre("step-000010.ckpt", "step-000020.ckpt"));
}

}  // namespace
}  // namespace ringside
