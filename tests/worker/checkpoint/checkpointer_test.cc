#include "worker/checkpoint/checkpointer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/checkpoint/temporary_folder.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CheckpointerTest : public CheckpointFolderTest {
 protected:
  std::unique_ptr<Checkpointer> Make(int64_t every_steps, int64_t last_step, int keep = 9) {
    JobConfig job;
    job.steps = last_step;
    const std::vector<ParameterSpec> specs = {{"w", {3}, "float32"}};
    ManifestMaker manifests(job, *BucketPlan::Create(specs, 4, 4), specs, 10, Provenance());
    return *Checkpointer::Create({every_steps, last_step, &signals_},
                                 *CheckpointStore::Create({folder_, keep, ""}), manifests, State());
  }
  TrainingSignals signals_;
};

TEST_F(CheckpointerTest, SavesEverySoManyStepsAndTheLast) {
  const auto checkpointer = Make(3, 8);
  for (int64_t step = 1; step <= 8; ++step) ASSERT_TRUE(checkpointer->OnStep(step).ok());
  ASSERT_TRUE(checkpointer->Finish().ok());
  EXPECT_THAT(Names(), ElementsAre("step-000003.ckpt", "step-000006.ckpt", "step-000008.ckpt"));
  EXPECT_EQ(checkpointer->totals().written, 3);
}

TEST_F(CheckpointerTest, SavesOnceWhenAsked) {
  const auto checkpointer = Make(0, 8);
  for (int64_t step = 1; step <= 8; ++step) {
    if (step == 5) signals_.save = true;
    ASSERT_TRUE(checkpointer->OnStep(step).ok());
  }
  ASSERT_TRUE(checkpointer->Finish().ok());
  EXPECT_THAT(Names(), ElementsAre("step-000005.ckpt"));
}

TEST_F(CheckpointerTest, EndsWhenAskedWithTheCheckpointOnTheDisk) {
  const auto checkpointer = Make(0, 8);
  ASSERT_TRUE(checkpointer->OnStep(1).ok());
  signals_.end = true;
  const absl::Status status = checkpointer->OnStep(2);
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("--resume=" + folder_ + "/step-000002.ckpt"));
  EXPECT_TRUE(ReadCheckpointFile(folder_ + "/step-000002.ckpt").ok());
  // The last step ends by itself.
  EXPECT_TRUE(checkpointer->OnStep(8).ok());
}

TEST_F(CheckpointerTest, AFolderThatVanishesIsAnErrorOfALaterStep) {
  const auto checkpointer = Make(1, 8);
  std::filesystem::remove_all(folder_);
  ASSERT_TRUE(checkpointer->OnStep(1).ok());
  const absl::Status at_the_end = checkpointer->Finish();
  EXPECT_THAT(std::string(at_the_end.message()), HasSubstr(folder_ + "/step-000001.ckpt"));
  EXPECT_EQ(checkpointer->OnStep(2), at_the_end);
}

}  // namespace
}  // namespace ringside
