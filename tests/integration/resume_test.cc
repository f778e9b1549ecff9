// Models that keep more than parameters, or draw random numbers, stop and go on as if they never
// had, also under another strategy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "tests/integration/checkpoint_job.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

struct ModelCase {
  const char* name;
  std::vector<std::string> flags;
};

void PrintTo(const ModelCase& model, std::ostream* out) { *out << model.name; }

class ResumeTest : public CheckpointJobTest, public ::testing::WithParamInterface<ModelCase> {
 protected:
  static constexpr int64_t kSteps = 6;

  RunResult TrainModel(const std::string& name, const std::vector<std::string>& more) const {
    std::vector<std::string> flags = GetParam().flags;
    flags.insert(flags.end(), more.begin(), more.end());
    return Train(name, flags);
  }
};

TEST_P(ResumeTest, GivesTheBitsOfNeverHavingStopped) {
  const RunResult whole =
      TrainModel("whole", {"--strategy=local", absl::StrCat("--steps=", kSteps)});
  EXPECT_EQ(whole.worker_results(0).buffers_sha256().empty(),
            std::string(GetParam().name) != "resnet18");
  std::mt19937 random(11);
  const std::vector<std::string> strategies[] = {{"--strategy=ring"},
                                                 {"--strategy=ps", "--ps_shards=2"}};
  for (int before : {0, 1}) {
    const auto stop = static_cast<int64_t>(1 + random() % (kSteps - 1));
    const std::string name = absl::StrCat("part", before);
    std::vector<std::string> first = strategies[before];
    first.insert(first.end(),
                 {absl::StrCat("--steps=", stop), absl::StrCat("--checkpoint_steps=", stop)});
    TrainModel(name, first);
    const std::string resume = "--resume=" + PathOf(name, stop);
    for (int after : {0, 1}) {
      if (before == 1 && after == 1) continue;  // what the other three do not tell
      std::vector<std::string> second = strategies[after];
      second.insert(second.end(), {absl::StrCat("--steps=", kSteps), resume});
      const RunResult rest = TrainModel(absl::StrCat("rest", before, after), second);
      SCOPED_TRACE(absl::StrCat("stopped after step ", stop, " of ", strategies[before][0],
                                ", went on with ", strategies[after][0]));
      EXPECT_EQ(rest.resumed_from_step(), stop);
      ExpectSameState(whole, rest);
    }
  }
}

TEST_P(ResumeTest, IsRefusedWhereTheBatchIsCutInAnotherWay) {
  TrainModel("a", {"--strategy=local", "--steps=2", "--checkpoint_steps=2"});
  std::vector<std::string> flags = GetParam().flags;
  flags.insert(flags.end(), {"--strategy=local", "--workers=1", "--accumulate=2", "--steps=4",
                             "--resume=" + PathOf("a", 2)});
  const TestProcess::Ended ended = RunProcess(Launch("b", flags), absl::Minutes(1));
  EXPECT_EQ(ended.status, 2) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("its batch_cut is \"2 workers x 1 micro-batch x "));
  EXPECT_THAT(ended.output, HasSubstr("that of this job \"1 worker x 2 micro-batches x "));
  EXPECT_THAT(ended.output, HasSubstr("--workers, --accumulate and --batch_size must stay"));
}

INSTANTIATE_TEST_SUITE_P(
    Models, ResumeTest,
    ::testing::Values(ModelCase{"resnet18",
                                {"--model=resnet18", "--batch_size=2",
                                 "--dataset_args=samples=10,rows=16,columns=16,classes=10"}},
                      ModelCase{"transformer",
                                {"--model=transformer", "--batch_size=3", "--optimizer=adam",
                                 "--momentum=0", "--dataset_args=samples=16,length=12",
                                 "--model_args=layers=2,width=16,heads=2,feedforward=32,"
                                 "dropout=0.2"}}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace ringside
