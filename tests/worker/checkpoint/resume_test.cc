#include "worker/checkpoint/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/checkpoint/temporary_folder.h"
#include "worker/checkpoint/checkpoint_store.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class ResumeTest : public CheckpointFolderTest {
 protected:
  std::string PathOf(int64_t step) const {
    return CheckpointStore::OpenToRead(folder_)->PathOf(static_cast<uint64_t>(step));
  }
  void Save(int64_t step, const std::string& model = "mlp") {
    ASSERT_TRUE(WriteCheckpointFile(PathOf(step), After(step, model), State()).ok());
  }
  absl::StatusOr<FoundCheckpoint> Find(const std::string& resume) const {
    return FindCheckpoint(resume, folder_, {{"model", "mlp"}});
  }
  std::string Message(const std::string& resume, absl::StatusCode code) const {
    const absl::Status status = Find(resume).status();
    EXPECT_EQ(status.code(), code) << status;
    return std::string(status.message());
  }
};

TEST_F(ResumeTest, LatestIsTheNewestAndAPathIsAPath) {
  for (int64_t step : {100, 900'000, 1'000'000}) Save(step);
  auto found = Find("latest");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->path, PathOf(1'000'000));
  EXPECT_EQ(found->checkpoint.manifest.step(), 1'000'000);
  found = Find(PathOf(100));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->checkpoint.manifest.step(), 100);
}

TEST_F(ResumeTest, TheOneBeforeATornOneIsOffered) {
  for (int64_t step : {100, 200, 300}) Save(step);
  fs::resize_file(PathOf(300), 50);
  Damage(PathOf(200));
  const std::string message = Message("latest", absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(message, HasSubstr("--resume=" + PathOf(300) + ": torn"));
  EXPECT_THAT(message, EndsWith("the one before it can be used: --resume=" + PathOf(100)));
  EXPECT_THAT(Message(PathOf(200), absl::StatusCode::kFailedPrecondition),
              EndsWith("--resume=" + PathOf(100)));
  Damage(PathOf(100));
  EXPECT_THAT(Message("latest", absl::StatusCode::kFailedPrecondition),
              EndsWith("there is no earlier one that can be used"));
}

TEST_F(ResumeTest, AForeignOneIsRefusedWithItsReason) {
  Save(100);
  Save(200, "lenet");
  const std::string message = Message("latest", absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(message, HasSubstr("of another training: its model is \"lenet\", that of this job "
                                 "\"mlp\""));
  EXPECT_THAT(message, EndsWith("--resume=" + PathOf(100)));
  EXPECT_THAT(std::string(FindCheckpoint(PathOf(100), "", {{"model", "mlp"}, {"dropout", "0.1"}})
                              .status()
                              .message()),
              HasSubstr("its dropout is not recorded"));
}

TEST_F(ResumeTest, WhereThereIsNoneItSaysSo) {
  EXPECT_THAT(Message("latest", absl::StatusCode::kNotFound),
              HasSubstr("there is no checkpoint in " + folder_));
  EXPECT_THAT(Message(PathOf(5), absl::StatusCode::kNotFound), HasSubstr(PathOf(5)));
  EXPECT_EQ(FindCheckpoint("latest", "", {}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FindCheckpoint("latest", folder_ + "/none", {}).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ringside
