// A shard that is killed in the middle of a synchronous job and started again: the job ends with
// the bits of one that was never disturbed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "absl/strings/str_cat.h"
#include "tests/integration/job.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSteps = 400;

class RestartTest : public JobTest {
 protected:
  std::vector<std::string> Flags(const std::vector<std::string>& more) const {
    std::vector<std::string> flags =
        JobFlags({"--strategy=ps", "--workers=3", "--ps_shards=2", "--batch_size=8",
                  absl::StrCat("--steps=", kSteps), "--momentum=0.9", "--warmup_steps=0",
                  "--lease=3s", "--restart_shards=4"});
    flags.insert(flags.begin(), "run");
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }

  std::string Undisturbed(const std::vector<std::string>& more) {
    std::vector<std::string> flags = Flags(more);
    flags.push_back("--out=" + folder() + "/undisturbed");
    const TestProcess::Ended ended = RunProcess(Command("ringside", flags), absl::Minutes(2));
    EXPECT_EQ(ended.status, 0) << ended.output;
    return ReadResult(folder() + "/undisturbed").runs(0).parameters_sha256();
  }

  static int64_t StepsWritten(const std::string& out) {
    std::ifstream file(out + "/steps/worker-0.jsonl");
    return std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n');
  }

  // Kills a shard at each of `steps`, ascending, and returns how the job ended.
  TestProcess::Ended RunAndKill(const std::string& out, const std::vector<std::string>& more,
                                const std::vector<int64_t>& steps, std::mt19937* random) {
    std::vector<std::string> flags = Flags(more);
    flags.push_back("--out=" + out);
    const std::unique_ptr<TestProcess> job = TestProcess::Start(Command("ringside", flags));
    for (int64_t step : steps) {
      EXPECT_TRUE(AwaitCondition([&] { return StepsWritten(out) >= step; }, absl::Seconds(60)))
          << job->output();
      const pid_t victim =
          FindChild(job->pid(), "ps_server", absl::StrCat("--shard=", (*random)() % 2));
      EXPECT_GT(victim, 0);
      if (victim > 0) kill(victim, SIGKILL);
    }
    return job->Wait(absl::Minutes(2));
  }
};

class SeedTest : public RestartTest, public ::testing::WithParamInterface<int> {};

TEST_P(SeedTest, AKilledShardLeavesNoTraceInTheBits) {
  WriteMnistFiles(data_dir(), 64, 20);
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  std::vector<std::string> more;
  // The optimizer on the workers and on the server in turn; every few seeds two losses.
  if (GetParam() % 2 == 1) more = {"--update=server", "--snapshot_steps=25"};
  std::vector<int64_t> steps = {static_cast<int64_t>(1 + random() % (kSteps * 3 / 4))};
  if (GetParam() % 5 == 0) steps.push_back(steps[0] + 1 + static_cast<int64_t>(random() % 40));

  const std::string hash = Undisturbed(more);
  const std::string out = folder() + "/killed";
  const TestProcess::Ended ended = RunAndKill(out, more, steps, &random);
  ASSERT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("was killed by signal 9"));
  const RunResult run = ReadResult(out).runs(0);
  EXPECT_EQ(run.parameters_sha256(), hash) << ended.output;
  EXPECT_EQ(run.worker_results(0).steps_size(), kSteps);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SeedTest, ::testing::Range(1, 21));

TEST_F(RestartTest, AsynchronousJobsGoBackToASnapshotAndOn) {
  WriteMnistFiles(data_dir(), 64, 20);
  std::mt19937 random(7);
  for (const char* mode : {"--ps_mode=async", "--ps_mode=backup"}) {
    const std::string out = folder() + "/out" + (mode + 10);
    const TestProcess::Ended ended = RunAndKill(out, {mode, "--snapshot_steps=20"}, {150}, &random);
    ASSERT_EQ(ended.status, 0) << mode << ": " << ended.output;
    const RunResult run = ReadResult(out).runs(0);
    for (const WorkerResult& worker : run.worker_results()) {
      EXPECT_EQ(worker.parameters_sha256(), run.worker_results(0).parameters_sha256());
    }
  }
}

TEST_F(RestartTest, LostParametersWithoutASnapshotAreNamed) {
  WriteMnistFiles(data_dir(), 64, 20);
  std::mt19937 random(1);
  const TestProcess::Ended ended =
      RunAndKill(folder() + "/out", {"--ps_mode=async"}, {50}, &random);
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.output, HasSubstr("--snapshot_steps"));
}

TEST_F(RestartTest, NoMoreLossesThanAllowed) {
  WriteMnistFiles(data_dir(), 64, 20);
  std::mt19937 random(3);
  const TestProcess::Ended ended =
      RunAndKill(folder() + "/out", {"--restart_shards=1"}, {40, 120}, &random);
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.output, ::testing::ContainsRegex("shard [01] was lost"));
}

}  // namespace
}  // namespace ringside
