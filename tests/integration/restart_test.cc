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
#include "absl/time/clock.h"
#include "tests/integration/job.h"

namespace ringside {
namespace {

using ::testing::AnyOf;
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
  // The coordinator may notice the loss before the launcher sees the process end.
  EXPECT_THAT(ended.output,
              AnyOf(HasSubstr("was killed by signal 9"), HasSubstr("counted as lost")));
  const RunResult run = ReadResult(out).runs(0);
  EXPECT_EQ(run.parameters_sha256(), hash) << ended.output;
  EXPECT_EQ(run.worker_results(0).steps_size(), kSteps);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SeedTest, ::testing::Range(1, 21));

// The instants at which some workers wait for others, which are about to come or have gone: before
// the first step, and around the last. By the time of the kill all may be over.
class EdgeTest : public RestartTest,
                 public ::testing::WithParamInterface<std::vector<std::string>> {
 protected:
  // Much less than anybody's patience with who does not come, and enough for a busy machine.
  static constexpr absl::Duration kSoon = absl::Seconds(30);

  // Starts a job and kills `shard` once worker 0 has written `step`, or is about to begin (0).
  TestProcess::Ended KillAt(int64_t step, int shard, const std::string& out) {
    std::vector<std::string> flags = Flags(GetParam());
    flags.push_back("--out=" + out);
    const std::unique_ptr<TestProcess> job = TestProcess::Start(Command("ringside", flags));
    const auto is_there = [&] {
      return std::ifstream(out + "/steps/worker-0.jsonl").good() && StepsWritten(out) >= step;
    };
    EXPECT_TRUE(AwaitCondition(is_there, absl::Seconds(60))) << job->output();
    const pid_t victim = FindChild(job->pid(), "ps_server", absl::StrCat("--shard=", shard));
    if (victim > 0) kill(victim, SIGKILL);
    const absl::Time killed = absl::Now();
    const TestProcess::Ended ended = job->Wait(absl::Minutes(2));
    EXPECT_LT(absl::Now() - killed, kSoon) << "step " << step << ": " << ended.output;
    return ended;
  }
};

TEST_P(EdgeTest, NobodyWaitsForWhoDoesNotCome) {
  WriteMnistFiles(data_dir(), 64, 20);
  const std::string hash = Undisturbed(GetParam());
  for (int64_t step : {int64_t{0}, int64_t{1}, kSteps - 2, kSteps - 1, kSteps}) {
    const int shard = static_cast<int>(step % 2);
    const std::string out = absl::StrCat(folder(), "/", step);
    const TestProcess::Ended ended = KillAt(step, shard, out);
    if (ended.status == 0) {
      EXPECT_EQ(ReadResult(out).runs(0).parameters_sha256(), hash) << ended.output;
      continue;
    }
    EXPECT_EQ(ended.status, 1);
    // Of the coordinator, or of the launcher, which saw it first. Before the first snapshot there
    // is none to go back to.
    const std::string who = absl::StrCat("shard ", shard);
    EXPECT_THAT(ended.output, ::testing::ContainsRegex(absl::StrCat(who, " was lost at step|lost ",
                                                                    who, "|no snapshot of ", who)))
        << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Updates, EdgeTest,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{"--update=server",
                                                                    "--snapshot_steps=25"}),
                         [](const auto& info) { return info.param.empty() ? "worker" : "server"; });

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
