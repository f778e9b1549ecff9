#include "ps_server/snapshot_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

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
using ::testing::IsEmpty;

const SnapshotIdentity kOurs{"job a", 1, 3, "plan p", "settings s"};

class SnapshotStoreTest : public ::testing::Test {
 protected:
  SnapshotStoreTest() {
    std::string name = testing::TempDir() + "/snapshot_store_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~SnapshotStoreTest() override { fs::remove_all(folder_); }

  SnapshotStore Open(const SnapshotIdentity& identity = kOurs) const {
    auto store = SnapshotStore::Create({folder_, identity});
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  // The state of a step has the step's number everywhere.
  static absl::Status Save(SnapshotStore* store, uint64_t step, size_t elements = 3) {
    const std::vector<float> values(elements, static_cast<float>(step));
    SnapshotView view;
    view.step = step;
    view.parameters = values;
    return store->Save(view).status();
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name) << bytes;
  }

  std::string folder_;
};

TEST_F(SnapshotStoreTest, ANewFolderIsMadeAndHoldsNothing) {
  folder_ += "/deep/down";
  SnapshotStore store = Open();
  EXPECT_THAT(store.List(), IsEmpty());
  EXPECT_EQ(store.Load(1).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(Save(&store, 120).ok());
  EXPECT_THAT(Names(), ElementsAre("shard-1-step-000120.snap"));
  EXPECT_EQ(store.Load(120)->parameters, std::vector<float>(3, 120.0f));
}

TEST_F(SnapshotStoreTest, TheLastTwoAreKept) {
  SnapshotStore store = Open();
  for (uint64_t step : {2, 10, 900'000, 1'000'000}) ASSERT_TRUE(Save(&store, step).ok());
  EXPECT_THAT(Names(), ElementsAre("shard-1-step-1000000.snap", "shard-1-step-900000.snap"));
  EXPECT_THAT(store.List(), ElementsAre(1'000'000u, 900'000u));
  EXPECT_EQ(store.Load(900'000)->step, 900'000u);
  // Another store of the same shard, as after a restart, finds them.
  EXPECT_THAT(Open().List(), ElementsAre(1'000'000u, 900'000u));
}

TEST_F(SnapshotStoreTest, AStepSavedAgainIsReplaced) {
  SnapshotStore store = Open();
  ASSERT_TRUE(Save(&store, 5, 3).ok());
  ASSERT_TRUE(Save(&store, 5, 8).ok());
  EXPECT_THAT(store.List(), ElementsAre(5u));
  EXPECT_EQ(store.Load(5)->parameters.size(), 8u);
}

TEST_F(SnapshotStoreTest, AShardThatWentBackForgetsWhatCameAfter) {
  SnapshotStore store = Open();
  for (uint64_t step : {10, 20}) ASSERT_TRUE(Save(&store, step).ok());
  ASSERT_TRUE(store.RemoveAfter(10).ok());
  EXPECT_THAT(store.List(), ElementsAre(10u));
  ASSERT_TRUE(store.RemoveAfter(10).ok());
  // The same when nobody has said so.
  for (uint64_t step : {20, 30}) ASSERT_TRUE(Save(&store, step).ok());
  ASSERT_TRUE(Save(&store, 25).ok());
  EXPECT_THAT(store.List(), ElementsAre(25u, 20u));
}

TEST_F(SnapshotStoreTest, WhatAnInterruptedSaveLeftIsIgnoredAndCleaned) {
  SnapshotStore before = Open();
  ASSERT_TRUE(Save(&before, 7).ok());
  Write("shard-1-step-000008.snap.partial", "torn");
  Write("shard-0-step-000008.snap.partial", "of another shard, which may be writing it now");
  Write("shard-1-step-8.snap.partial", "not a name of ours");
  EXPECT_THAT(before.List(), ElementsAre(7u));
  EXPECT_THAT(Open().List(), ElementsAre(7u));
  EXPECT_THAT(Names(), ElementsAre("shard-0-step-000008.snap.partial", "shard-1-step-000007.snap",
                                   "shard-1-step-8.snap.partial"));
}

TEST_F(SnapshotStoreTest, ATornFileIsNotListedAndTheOlderOneLoads) {
  SnapshotStore store = Open();
  for (uint64_t step : {10, 20}) ASSERT_TRUE(Save(&store, step).ok());
  fs::resize_file(store.PathOf(20), fs::file_size(store.PathOf(20)) - 1);
  EXPECT_THAT(store.List(), ElementsAre(10u));
  const absl::Status torn = store.Load(20).status();
  EXPECT_EQ(torn.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(torn.message()), HasSubstr("shard-1-step-000020.snap: torn"));
  EXPECT_TRUE(store.Load(10).ok());
  // It does not count as one of the two, either.
  ASSERT_TRUE(Save(&store, 30).ok());
  EXPECT_THAT(store.List(), ElementsAre(30u, 10u));
  ASSERT_TRUE(Save(&store, 20).ok());
  EXPECT_THAT(store.List(), ElementsAre(20u, 10u));
}

TEST_F(SnapshotStoreTest, ADamagedSectionIsListedButDoesNotLoad) {
  SnapshotStore store = Open();
  ASSERT_TRUE(Save(&store, 10).ok());
  std::fstream file(store.PathOf(10), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(fs::file_size(store.PathOf(10))) - 9);
  file.put('x');
  file.close();
  EXPECT_THAT(store.List(), ElementsAre(10u));
  EXPECT_EQ(store.Load(10).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(SnapshotStoreTest, ARenamedFileIsRefused) {
  SnapshotStore store = Open();
  ASSERT_TRUE(Save(&store, 10).ok());
  fs::rename(store.PathOf(10), store.PathOf(11));
  EXPECT_THAT(store.List(), IsEmpty());
  EXPECT_THAT(std::string(store.Load(11).status().message()),
              HasSubstr("shard-1-step-000011.snap: of step 10, which is not what its name says"));
}

TEST_F(SnapshotStoreTest, ShardsAndJobsShareAFolderAndLeaveEachOthersFilesAlone) {
  SnapshotIdentity neighbour = kOurs, other_job = kOurs, longer = kOurs;
  neighbour.shard = 2;
  longer.shard = 11;
  other_job.job = "job b";
  SnapshotStore store = Open(), next = Open(neighbour), eleventh = Open(longer);
  SnapshotStore older_job = Open(other_job);
  for (uint64_t step : {800, 900}) ASSERT_TRUE(Save(&older_job, step).ok());
  for (uint64_t step : {1, 2, 3}) {
    ASSERT_TRUE(Save(&store, step).ok());
    ASSERT_TRUE(Save(&next, step).ok());
    ASSERT_TRUE(Save(&eleventh, step).ok());
  }
  EXPECT_THAT(store.List(), ElementsAre(3u, 2u));
  EXPECT_THAT(next.List(), ElementsAre(3u, 2u));
  EXPECT_THAT(eleventh.List(), ElementsAre(3u, 2u));
  EXPECT_THAT(older_job.List(), ElementsAre(900u, 800u));
  const absl::Status foreign = store.Load(900).status();
  EXPECT_EQ(foreign.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(foreign.message()), HasSubstr("of another job: job b, must be job a"));
}

TEST_F(SnapshotStoreTest, NamesThatAreNotOursAreIgnored) {
  for (const char* name :
       {"shard-1-step-.snap", "shard-1-step-12.snap", "shard-1-step-0000012.snap",
        "shard-1-step--00012.snap", "shard-1-step-000012.snap~", "notes.txt"}) {
    Write(name, "x");
  }
  fs::create_directory(folder_ + "/shard-1-step-000013.snap");
  SnapshotStore store = Open();
  ASSERT_TRUE(Save(&store, 1).ok());
  EXPECT_THAT(store.List(), ElementsAre(1u));
  EXPECT_EQ(Names().size(), 8u);
}

TEST_F(SnapshotStoreTest, AFolderThatCannotBeUsedIsNamed) {
  EXPECT_THAT(std::string(SnapshotStore::Create({"", kOurs}).status().message()),
              HasSubstr("--snapshot_dir is missing"));
  Write("file", "x");
  for (const char* name : {"/file", "/file/below"}) {
    const absl::Status status = SnapshotStore::Create({folder_ + name, kOurs}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("--snapshot_dir=" + folder_ + name));
  }
  SnapshotStore store = Open();
  fs::remove_all(folder_);
  const absl::Status gone = Save(&store, 1);
  EXPECT_EQ(gone.code(), absl::StatusCode::kNotFound) << gone;
  EXPECT_THAT(std::string(gone.message()), HasSubstr(store.PathOf(1)));
  EXPECT_THAT(store.List(), IsEmpty());
}

TEST_F(SnapshotStoreTest, AFileThatDoesNotFitLeavesTheOthersAsTheyWere) {
  SnapshotStore store = Open();
  for (uint64_t step : {10, 20}) ASSERT_TRUE(Save(&store, step).ok());
  // A limit on the size of files stands for a full disk.
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{1 << 20, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status = Save(&store, 30, 1 << 20);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  signal(SIGXFSZ, handler);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(store.PathOf(30) + ".partial, after 1048576 bytes"));
  EXPECT_THAT(Names(), ElementsAre("shard-1-step-000010.snap", "shard-1-step-000020.snap"));
  EXPECT_TRUE(store.Load(20).ok());
}

}  // namespace
}  // namespace ringside
