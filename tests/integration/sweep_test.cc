// `ringside sweep` with real processes: from a spec to a report, interrupted in every way and gone
// on with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/job.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr absl::Duration kTimeout = absl::Minutes(4);

// local once, ring and ps twice.
constexpr char kSpec[] = R"(question: "Which is faster?"
flags: ["steps=20", "warmup_steps=2", "hidden=16,8", "first_bucket_bytes=256", "bucket_bytes=4096"]
strategy { name: "local" trials: 1 }
strategy { name: "ring" }
strategy { name: "ps" flags: "ps_shards=2" }
workers: 2
trials: 2
scaling: WEAK
)";
constexpr int kJobs = 5;

// For what needs no more: two jobs.
constexpr char kSmallSpec[] = R"(question: "Which is faster?"
flags: ["steps=20", "warmup_steps=2", "hidden=16,8", "first_bucket_bytes=256", "bucket_bytes=4096"]
strategy { name: "local" }
strategy { name: "ring" }
workers: 2
trials: 1
scaling: WEAK
)";
constexpr int kSmallJobs = 2;

class SweepTest : public JobTest {
 protected:
  SweepTest() {
    WriteMnistFiles(data_dir(), 100, 20);
    WriteSpec(kSpec);
  }

  std::string spec() const { return folder() + "/spec.textproto"; }
  std::string out() const { return folder() + "/out"; }
  void WriteSpec(const std::string& text) const { std::ofstream(spec()) << text; }

  TestProcess::Config Sweep(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"sweep", spec(), "--out=" + out(),
                                          "--data_dir=" + data_dir()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Command("ringside", arguments);
  }

  // Contents and time of the last change of every file of a run that has ended well.
  std::map<std::string, std::string> FilesOfFinishedRuns() const {
    std::map<std::string, std::string> files;
    for (const auto& run : fs::directory_iterator(out() + "/runs")) {
      if (!fs::exists(run.path() / "results.json")) continue;
      for (const auto& file : fs::recursive_directory_iterator(run)) {
        if (!file.is_regular_file()) continue;
        std::ifstream stream(file.path());
        const std::string text((std::istreambuf_iterator<char>(stream)),
                               std::istreambuf_iterator<char>());
        files[file.path().string()] =
            absl::StrCat(fs::last_write_time(file).time_since_epoch().count(), " ", text);
      }
    }
    return files;
  }

  void ExpectComplete(int jobs = kJobs) const {
    const ComparisonResult result = ReadResult(out());
    EXPECT_EQ(result.question(), "Which is faster?");
    ASSERT_EQ(result.runs_size(), jobs);
    for (const RunResult& run : result.runs()) {
      EXPECT_EQ(run.parameters_sha256(), result.runs(0).parameters_sha256());
      EXPECT_EQ(run.worker_results(0).steps_size(), 20);
    }
    for (const Gate& gate : result.gates()) EXPECT_TRUE(gate.passed()) << gate.detail();
    EXPECT_TRUE(fs::exists(out() + "/summary.md"));
  }

  // Ends the sweep by `signal` after two of its jobs and goes on.
  void InterruptAndGoOn(int signal) const {
    const auto first = TestProcess::Start(Sweep());
    ASSERT_TRUE(first->WaitForOutput("\\] 2/5", kTimeout)) << first->output();
    first->Signal(signal);
    EXPECT_EQ(first->Wait(kTimeout).status, 128 + signal);
    EXPECT_THAT(AwaitNoProcessMatching(out(), kTimeout), IsEmpty());
    EXPECT_FALSE(fs::exists(out() + "/results.json"));
    const auto before = FilesOfFinishedRuns();
    EXPECT_FALSE(before.empty());

    const TestProcess::Ended second = RunProcess(Sweep(), kTimeout);
    EXPECT_EQ(second.status, 0) << second.output;
    EXPECT_THAT(second.output, HasSubstr("going on: ["));
    EXPECT_THAT(second.output, Not(HasSubstr("] 1/5, ")));
    const auto after = FilesOfFinishedRuns();
    for (const auto& [path, contents] : before) EXPECT_EQ(after.at(path), contents) << path;
    ExpectComplete();
  }
};

TEST_F(SweepTest, RunsASpecAndReports) {
  const TestProcess::Ended ended = RunProcess(Sweep(), kTimeout);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("[##########] 5/5, 0:00 left: ring, 2 workers, trial 2: 20 "
                              "steps in "),
                    HasSubstr("report: ")));
  ExpectComplete();
  // Again there is nothing to do but the report.
  const auto before = FilesOfFinishedRuns();
  const TestProcess::Ended again = RunProcess(Sweep(), kTimeout);
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_THAT(again.output, HasSubstr("going on: [##########] 5/5"));
  EXPECT_EQ(FilesOfFinishedRuns(), before);
  ExpectComplete();
}

TEST_F(SweepTest, GoesOnAfterCtrlC) { InterruptAndGoOn(SIGINT); }

TEST_F(SweepTest, GoesOnAfterBeingKilled) { InterruptAndGoOn(SIGKILL); }

TEST_F(SweepTest, GoesOnAfterARunThatFailed) {
  const auto first = TestProcess::Start(Sweep());
  pid_t victim = -1;
  ASSERT_TRUE(AwaitCondition(
      [&] {
        if (first->output().find("] 1/5") == std::string::npos) return false;
        victim = FindChild(first->pid(), "worker", "--rank=1");
        return victim > 0;
      },
      kTimeout))
      << first->output();
  kill(victim, SIGKILL);
  const TestProcess::Ended ended = first->Wait(kTimeout);
  EXPECT_EQ(ended.status, 1) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("jobs have run; the same command goes on from there"));
  const TestProcess::Ended second = RunProcess(Sweep(), kTimeout);
  EXPECT_EQ(second.status, 0) << second.output;
  ExpectComplete();
}

TEST_F(SweepTest, WhatIsDamagedRunsAgain) {
  WriteSpec(kSmallSpec);
  ASSERT_EQ(RunProcess(Sweep(), kTimeout).status, 0);
  std::ofstream(out() + "/runs/ring-w2-t1/results.json") << "{}";
  const TestProcess::Ended ended = RunProcess(Sweep(), kTimeout);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("ring-w2-t1/results.json is not what its run has left"));
  ExpectComplete(kSmallJobs);
}

TEST_F(SweepTest, NeverMixesSpecs) {
  WriteSpec(kSmallSpec);
  ASSERT_EQ(RunProcess(Sweep(), kTimeout).status, 0);
  WriteSpec(absl::StrCat(kSmallSpec, "# another\n"));
  const TestProcess::Ended refused = RunProcess(Sweep(), kTimeout);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.output, AllOf(HasSubstr("must not be mixed: SHA-256 of the spec was \""),
                                    HasSubstr("--overwrite")));
  EXPECT_THAT(refused.output, Not(HasSubstr("SHA-256 of worker")));
  ExpectComplete(kSmallJobs);
  const TestProcess::Ended anew = RunProcess(Sweep({"--overwrite"}), kTimeout);
  EXPECT_EQ(anew.status, 0) << anew.output;
  EXPECT_THAT(anew.output, HasSubstr("] 1/2, "));
  ExpectComplete(kSmallJobs);
}

TEST_F(SweepTest, OneAtATimeInAFolder) {
  const auto first = TestProcess::Start(Sweep());
  ASSERT_TRUE(first->WaitForOutput("\\] 1/5", kTimeout)) << first->output();
  const TestProcess::Ended second = RunProcess(Sweep(), kTimeout);
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.output, HasSubstr("another `ringside sweep` is at work there"));
  EXPECT_EQ(first->Wait(kTimeout).status, 0);
  ExpectComplete();
}

TEST_F(SweepTest, AJobThatTakesTooLongFails) {
  std::ofstream(folder() + "/shapes.txt") << "only 100\n";
  WriteSpec(absl::StrCat(
      "question: \"Which?\" workers: 2 trials: 1 scaling: WEAK strategy { name: \"ring\" }\n"
      "flags: [\"model=shapes\", \"model_args=file=",
      folder(), "/shapes.txt,compute_ms=1000\", \"steps=1000\"]\njob_time_limit_s: 3\n"));
  const TestProcess::Ended ended = RunProcess(Sweep(), kTimeout);
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.output,
              HasSubstr("ring, 2 workers, trial 1: took longer than job_time_limit_s, 3s"));
}

TEST_F(SweepTest, WhatVariesIsInTheResult) {
  WriteSpec(
      absl::StrCat(kSmallSpec, "vary { setting: \"frame_bytes\" values: [\"512\", \"1024\"] }\n"));
  const TestProcess::Ended ended = RunProcess(Sweep(), kTimeout);
  const ComparisonResult result = ReadResult(out());
  EXPECT_THAT(result.varied(), ElementsAre("frame_bytes")) << ended.output;
  // local takes no notice of frames.
  ASSERT_EQ(result.runs_size(), 1 + 2);
  for (const RunResult& run : result.runs())
    EXPECT_EQ(run.parameters_sha256(), result.runs(0).parameters_sha256());
}

TEST_F(SweepTest, ADryRunRunsNothing) {
  const TestProcess::Ended ended = RunProcess(Sweep({"--dry_run"}), kTimeout);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("   2  ring, 2 workers, trial 1  (ring-w2-t1)\n"),
                                  HasSubstr("5 jobs, of which 0 have run\n")));
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(SweepTest, RefusesInOneLineAndLeavesNothing) {
  WriteSpec(absl::StrCat(kSpec, "flags: \"bukcet_bytes=1\"\n"));
  const TestProcess::Ended unknown = RunProcess(Sweep(), kTimeout);
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.output,
              HasSubstr(absl::StrCat(spec(),
                                     ":9: flags[5]: unknown flag --bukcet_bytes; did you mean "
                                     "--bucket_bytes?\n")));
  EXPECT_FALSE(fs::exists(out()));
  WriteSpec(kSpec);
  const TestProcess::Ended flag = RunProcess(Sweep({"--steps=5"}), kTimeout);
  EXPECT_EQ(flag.status, 2);
  EXPECT_THAT(flag.output,
              HasSubstr("--steps has no meaning for `ringside sweep`; what its jobs are "
                        "told is in the spec"));
  const TestProcess::Ended data = RunProcess(Sweep({"--data_dir=/nowhere"}), kTimeout);
  EXPECT_EQ(data.status, 2);
  EXPECT_THAT(data.output, HasSubstr("/nowhere"));
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(SweepTest, ResultsOfOthersAreNotTouched) {
  fs::create_directory(out());
  std::ofstream(out() + "/results.json") << "{}";
  const TestProcess::Ended ended = RunProcess(Sweep(), kTimeout);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, HasSubstr("already holds results (results.json)"));
  EXPECT_TRUE(fs::exists(out() + "/results.json"));
}

}  // namespace
}  // namespace ringside
