#include "experiments/output_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

class OutputFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/output_folder_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override { fs::remove_all(base_); }

  static void Write(const fs::path& path) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "x";
  }

  fs::path base_;
};

TEST_F(OutputFolderTest, MakesWhatIsMissingAndDiscardRemovesIt) {
  const auto folder = OutputFolder::Prepare((base_ / "a/b").string(), false);
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_TRUE(fs::is_directory(base_ / "a/b"));
  Write(base_ / "a/b/logs/worker-0.log");
  Write(base_ / "a/b/steps/worker-0.jsonl");
  folder->Discard();
  EXPECT_TRUE(fs::is_empty(base_));
}

TEST_F(OutputFolderTest, TrailingSlashIsNoFolderOfItsOwn) {
  const auto folder = OutputFolder::Prepare((base_ / "a/").string(), false);
  ASSERT_TRUE(folder.ok()) << folder.status();
  folder->Discard();
  EXPECT_TRUE(fs::is_empty(base_));
}

TEST_F(OutputFolderTest, RefusesToReplaceResults) {
  Write(base_ / "results.json");
  const auto refused = OutputFolder::Prepare(base_.string(), false);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(refused.status().message(),
            "--out=" + base_.string() +
                ": already holds results (results.json); name another folder, or "
                "--overwrite replaces them");
  EXPECT_TRUE(fs::exists(base_ / "results.json"));
}

TEST_F(OutputFolderTest, OverwriteRemovesOursAndNothingElse) {
  Write(base_ / "results.json");
  Write(base_ / "report.html");
  Write(base_ / "trace.json");
  Write(base_ / "figures/loss.svg");
  Write(base_ / "notes.txt");
  Write(base_ / "logs/worker-0.log");
  Write(base_ / "logs/mine.log");
  Write(base_ / "runs/ring-w2-t1/results.json");
  Write(base_ / "runs/ring-w2-t1/steps/worker-1.jsonl");
  ASSERT_TRUE(OutputFolder::Prepare(base_.string(), true).ok());
  EXPECT_FALSE(fs::exists(base_ / "results.json"));
  EXPECT_FALSE(fs::exists(base_ / "report.html"));
  EXPECT_FALSE(fs::exists(base_ / "trace.json"));
  EXPECT_FALSE(fs::exists(base_ / "logs/worker-0.log"));
  EXPECT_FALSE(fs::exists(base_ / "runs"));
  EXPECT_FALSE(fs::exists(base_ / "figures"));
  EXPECT_TRUE(fs::exists(base_ / "notes.txt"));
  EXPECT_TRUE(fs::exists(base_ / "logs/mine.log"));
}

TEST_F(OutputFolderTest, CheckpointsAreResultsUnlessTheJobGoesOnFromThem) {
  const auto fill = [this] {
    Write(base_ / "logs/worker-0.log");
    Write(base_ / "steps/worker-0.jsonl");
    Write(base_ / "checkpoints/step-000010.ckpt");
    Write(base_ / "checkpoints/mine.txt");
  };
  fill();
  EXPECT_EQ(OutputFolder::Prepare(base_.string(), false).status().code(),
            absl::StatusCode::kAlreadyExists);
  const auto resumed = OutputFolder::Prepare(base_.string(), false, /*resumes=*/true);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_FALSE(fs::exists(base_ / "logs/worker-0.log"));
  resumed->Discard();
  EXPECT_TRUE(fs::exists(base_ / "steps/worker-0.jsonl"));
  EXPECT_TRUE(fs::exists(base_ / "checkpoints/step-000010.ckpt"));
  ASSERT_TRUE(OutputFolder::Prepare(base_.string(), true).ok());
  EXPECT_FALSE(fs::exists(base_ / "steps"));
  EXPECT_FALSE(fs::exists(base_ / "checkpoints/step-000010.ckpt"));
  EXPECT_TRUE(fs::exists(base_ / "checkpoints/mine.txt"));
}

TEST_F(OutputFolderTest, LeftoversOfAFailedRunAreNotInTheWay) {
  Write(base_ / "logs/worker-7.log");
  ASSERT_TRUE(OutputFolder::Prepare(base_.string(), false).ok());
  EXPECT_FALSE(fs::exists(base_ / "logs"));
}

TEST_F(OutputFolderTest, AFileInTheWayIsRefused) {
  Write(base_ / "file");
  for (const fs::path& path : {base_ / "file", base_ / "file/inner"}) {
    const auto refused = OutputFolder::Prepare(path.string(), false);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kPermissionDenied);
    EXPECT_TRUE(absl::StrContains(refused.status().message(),
                                  "--out=" + path.string() + ": cannot be written"))
        << refused.status();
  }
}

TEST_F(OutputFolderTest, TemporaryFoldersVanish) {
  const auto folder = OutputFolder::Temporary();
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(folder->temporary());
  EXPECT_TRUE(fs::is_directory(folder->path()));
  folder->Discard();
  EXPECT_FALSE(fs::exists(folder->path()));
}

}  // namespace
}  // namespace ringside
