#include "experiments/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/logging.h"
#include "common/suspects.h"
#include "experiments/log_tail.h"
#include "experiments/signal_wait.h"
#include "tests/testing/process.h"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

namespace fs = std::filesystem;

// Two workers and one shard, all of them fake_member.
class LauncherTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    SetLogName("launcher_test");
    BlockJobSignals();
  }

  void SetUp() override {
    std::string name = ::testing::TempDir() + "/launcher_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directory(fs::path(folder_) / "logs");
    config_.binary_dir = RINGSIDE_FAKE_BINARIES;
    config_.log_dir = folder_ + "/logs";
    config_.job.strategy = "ps";
    config_.job.workers = 2;
    config_.job.steps = 2;
    config_.job.out = folder_;
    config_.job.lease = absl::Seconds(2);
    config_.environment = {{"PATH", "/usr/bin:/bin"}};
  }
  void TearDown() override {
    EXPECT_THAT(DescendantsOf(getpid()), IsEmpty());
    fs::remove_all(folder_);
  }

  JobOutcome Run() {
    auto launcher = Launcher::Create(config_);
    if (!launcher.ok()) {
      ADD_FAILURE() << launcher.status();
      return {};
    }
    return (*launcher)->Run();
  }

  bool Hang(const std::string& name) const {
    return absl::EndsWith(LastLogLine(absl::StrCat(folder_, "/logs/", name, ".log")), "hangs");
  }

  std::string folder_;
  Launcher::Config config_;
};

TEST_F(LauncherTest, AGoodJobEndsWellAndLeavesItsResult) {
  const JobOutcome outcome = Run();
  EXPECT_TRUE(outcome.ok()) << outcome.error;
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.details, IsEmpty());
  EXPECT_TRUE(fs::exists(folder_ + "/results.json"));
  for (const char* log : {"worker-0.log", "worker-1.log", "shard-0.log"}) {
    EXPECT_TRUE(fs::exists(folder_ + "/logs/" + log)) << log;
  }
}

TEST_F(LauncherTest, LocalIsOneProcess) {
  config_.job.strategy = "local";
  EXPECT_TRUE(Run().ok());
  EXPECT_FALSE(fs::exists(folder_ + "/logs/worker-1.log"));
  EXPECT_FALSE(fs::exists(folder_ + "/logs/shard-0.log"));
}

TEST_F(LauncherTest, BadInputOfAChildEndsTheJobWithItsWords) {
  config_.environment["FAKE_WORKER_1"] = "refuse";
  const absl::Time start = absl::Now();
  const JobOutcome outcome = Run();
  EXPECT_EQ(outcome.launcher_status, 2);
  EXPECT_EQ(outcome.error,
            "worker 1 (exit status 2) ended before all processes had joined: --data_dir=nowhere: "
            "no such folder");
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
}

TEST_F(LauncherTest, AKilledWorkerIsNamedAndNobodyIsLeft) {
  config_.environment["FAKE_WORKER_1"] = "kill";
  const JobOutcome outcome = Run();
  EXPECT_EQ(outcome.launcher_status, 1);
  EXPECT_THAT(outcome.error, HasSubstr("worker 1"));
  EXPECT_THAT(outcome.details, Contains(StartsWith("worker 1, killed by signal 9 (Killed)")));
  EXPECT_THAT(outcome.details,
              Contains(AllOf(StartsWith("worker 0, exit status 1: "), HasSubstr("worker 1"))));
  EXPECT_THAT(outcome.details,
              Contains(AllOf(StartsWith("shard 0, exit status 1: "), HasSubstr("worker 1"))));
}

TEST_F(LauncherTest, AKilledShardIsNamedAndNobodyIsLeft) {
  config_.environment["FAKE_SHARD_0"] = "kill";
  const JobOutcome outcome = Run();
  EXPECT_EQ(outcome.launcher_status, 1);
  EXPECT_THAT(outcome.error, HasSubstr("shard 0"));
}

TEST_F(LauncherTest, AKilledShardIsStartedAgain) {
  config_.job.restart_shards = 3;
  config_.environment["FAKE_SHARD_0"] = "kill_once";
  ::testing::internal::CaptureStderr();
  const JobOutcome outcome = Run();
  const std::string output = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(outcome.ok()) << outcome.error;
  EXPECT_EQ(outcome.restarts, 1);
  EXPECT_THAT(output, HasSubstr("shard 0 was killed by signal 9 at step "));
  EXPECT_THAT(output, HasSubstr("; restart 1 of 3\n"));
  EXPECT_TRUE(fs::exists(folder_ + "/logs/shard-0.log"));
  EXPECT_TRUE(fs::exists(folder_ + "/logs/shard-0.restart-1.log"));
}

TEST_F(LauncherTest, AStoppedShardIsReplaced) {
  config_.job.restart_shards = 1;
  config_.job.ps_shards = 2;
  config_.environment["FAKE_SHARD_1"] = "stop_once";
  ::testing::internal::CaptureStderr();
  const JobOutcome outcome = Run();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("shard 1 counted as lost at step "));
  EXPECT_TRUE(outcome.ok()) << outcome.error;
  EXPECT_EQ(outcome.restarts, 1);
}

TEST_F(LauncherTest, AShardThatIsKilledAgainAndAgainEndsTheJob) {
  config_.job.restart_shards = 2;
  config_.environment["FAKE_SHARD_0"] = "kill";
  const JobOutcome outcome = Run();
  EXPECT_EQ(outcome.launcher_status, 1);
  EXPECT_EQ(outcome.restarts, 2);
  EXPECT_THAT(outcome.error, HasSubstr("shard 0 was lost at step "));
  EXPECT_THAT(outcome.error, HasSubstr("--restart_shards=2 is used up"));
  EXPECT_TRUE(fs::exists(folder_ + "/logs/shard-0.restart-2.log"));
}

TEST_F(LauncherTest, AShardThatFailsByItsOwnWordIsNotStartedAgain) {
  config_.job.restart_shards = 3;
  config_.environment["FAKE_SHARD_0"] = "fail";
  const JobOutcome outcome = Run();
  EXPECT_NE(outcome.launcher_status, 0);
  EXPECT_EQ(outcome.restarts, 0);
  EXPECT_THAT(outcome.error, HasSubstr("shard 0: the data are bad"));
}

TEST_F(LauncherTest, AKilledWorkerIsNotStartedAgain) {
  config_.job.restart_shards = 3;
  config_.environment["FAKE_WORKER_0"] = "kill";
  const JobOutcome outcome = Run();
  EXPECT_EQ(outcome.launcher_status, 1);
  EXPECT_EQ(outcome.restarts, 0);
}

TEST_F(LauncherTest, AnInterruptReachesAllAlsoAfterTheirFirstWasStartedAgain) {
  config_.job.restart_shards = 1;
  config_.environment["FAKE_SHARD_0"] = "kill_once";
  config_.environment["FAKE_WORKER_0"] = "hang";
  config_.environment["FAKE_WORKER_1"] = "hang";
  std::thread interrupter([this] {
    AwaitCondition(
        [this] {
          return Hang("worker-0") && Hang("worker-1") &&
                 fs::exists(folder_ + "/logs/shard-0.restart-1.log");
        },
        absl::Seconds(30));
    kill(getpid(), SIGINT);
  });
  const JobOutcome outcome = Run();
  interrupter.join();
  EXPECT_EQ(outcome.launcher_status, 130);
  EXPECT_EQ(outcome.restarts, 1);
}

TEST_F(LauncherTest, AStoppedWorkerIsNamedAndKilled) {
  config_.environment["FAKE_WORKER_0"] = "stop";
  const absl::Time start = absl::Now();
  const JobOutcome outcome = Run();
  EXPECT_EQ(outcome.launcher_status, 1);
  EXPECT_THAT(outcome.error, HasSubstr("worker 0"));
  EXPECT_THAT(outcome.details, Contains(StartsWith("worker 0, ended by ringside")));
  EXPECT_LT(absl::Now() - start, config_.job.lease * 2 + absl::Seconds(5));
}

TEST_F(LauncherTest, AFailureOfTheChildsOwnIsTheJobs) {
  config_.environment["FAKE_WORKER_0"] = "fail";
  const JobOutcome outcome = Run();
  EXPECT_THAT(outcome.error, HasSubstr("worker 0: the data are bad"));
  EXPECT_NE(outcome.launcher_status, 0);
}

TEST_F(LauncherTest, AServerThatRunsOnIsNamedAndEnded) {
  config_.environment["FAKE_SHARD_0"] = "stay";
  const JobOutcome outcome = Run();
  EXPECT_EQ(outcome.launcher_status, 1);
  EXPECT_EQ(outcome.error, "all workers have ended, but these run on: shard 0");
}

TEST_F(LauncherTest, AnInterruptEndsEvenThoseWhoIgnoreIt) {
  config_.environment["FAKE_WORKER_0"] = "hang";
  config_.environment["FAKE_WORKER_1"] = "hang";
  config_.environment["FAKE_SHARD_0"] = "hang";
  std::thread interrupter([this] {
    AwaitCondition([this] { return Hang("worker-0") && Hang("worker-1") && Hang("shard-0"); },
                   absl::Seconds(30));
    kill(getpid(), SIGINT);
  });
  const JobOutcome outcome = Run();
  interrupter.join();
  EXPECT_EQ(outcome.launcher_status, 130);
  EXPECT_EQ(outcome.error, "interrupted by signal 2");
}

TEST_F(LauncherTest, AMissingBinaryIsFoundBeforeAnythingStarts) {
  config_.binary_dir = folder_;
  const auto launcher = Launcher::Create(config_);
  EXPECT_EQ(launcher.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(launcher.status().message(),
            folder_ + "/worker is missing: it belongs beside `ringside`; build all targets");
}

TEST(LauncherMembersTest, ShardsComeFirst) {
  JobConfig job;
  job.strategy = "ps";
  job.workers = 2;
  job.ps_shards = 1;
  std::vector<std::string> names;
  for (const MemberId& member : JobMembers(job)) names.push_back(LogName(member));
  EXPECT_THAT(names, ElementsAre("shard-0", "worker-0", "worker-1"));
}

TEST(MetricsFlagTest, EveryShardHasAPortOfItsOwn) {
  EXPECT_EQ(MetricsFlag(9100, 0), "--metrics_port=9100");
  EXPECT_EQ(MetricsFlag(9100, 2), "--metrics_port=9102");
  EXPECT_EQ(MetricsFlag(0, 2), "--metrics_port=0");
}

}  // namespace
}  // namespace ringside
