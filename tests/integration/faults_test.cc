// A process that is killed or stopped in mid-step: every other one ends within the lease and names
// it; nothing stays behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "tests/integration/job.h"

namespace ringside {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr absl::Duration kLease = absl::Seconds(3);
// For what comes after the verdict on a busy machine: processes end, the launcher sums up.
constexpr absl::Duration kSlack = absl::Seconds(5);

struct Fault {
  std::string name;
  std::string strategy;
  std::string victim;       // in messages
  std::string victim_flag;  // in the victim's command line
  int signal;
  std::vector<std::string> more = {};  // flags of the job
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class FaultTest : public JobTest, public ::testing::WithParamInterface<Fault> {
 protected:
  std::string out() const { return folder() + "/out"; }

  std::unique_ptr<TestProcess> StartEndlessJob(const std::string& strategy,
                                               const std::vector<std::string>& more = {}) {
    WriteMnistFiles(data_dir(), 64, 10);
    std::vector<std::string> flags =
        JobFlags({"--strategy=" + strategy, "--workers=3", "--ps_shards=2", "--batch_size=8",
                  "--steps=100000000", absl::StrCat("--lease=", absl::FormatDuration(kLease)),
                  "--out=" + out()});
    flags.insert(flags.begin(), "run");
    flags.insert(flags.end(), more.begin(), more.end());
    return TestProcess::Start(Command("ringside", flags));
  }

  // Steps are written as they are done. Some hundred of them take longer than a heartbeat, so that
  // the coordinator has heard of steps from everybody.
  bool AwaitTraining() const {
    const std::string steps = out() + "/steps/worker-0.jsonl";
    return AwaitCondition(
        [&] {
          std::error_code error;
          const auto size = std::filesystem::file_size(steps, error);
          return !error && size > 300'000;
        },
        absl::Seconds(180));
  }

  std::string Log(const std::string& name) const {
    std::ifstream file(out() + "/logs/" + name + ".log");
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
};

TEST_P(FaultTest, IsNamedByAllWithinTheLease) {
  const Fault& fault = GetParam();
  const std::unique_ptr<TestProcess> job = StartEndlessJob(fault.strategy, fault.more);
  ASSERT_TRUE(AwaitTraining()) << job->output();
  const bool shard = absl::StartsWith(fault.victim, "shard");
  const pid_t victim = FindChild(job->pid(), shard ? "ps_server" : "worker", fault.victim_flag);
  ASSERT_GT(victim, 0);

  const absl::Time start = absl::Now();
  ASSERT_EQ(kill(victim, fault.signal), 0);
  const TestProcess::Ended ended = job->Wait(kLease + kSlack + absl::Seconds(30));
  const absl::Duration took = absl::Now() - start;

  EXPECT_EQ(ended.status, 1) << ended.output;
  EXPECT_LT(took, kLease + kSlack) << ended.output;
  EXPECT_THAT(ended.output,
              ContainsRegex(absl::StrCat(fault.victim, " was lost at step [1-9][0-9]*: ")))
      << ended.output;
  EXPECT_TRUE(AwaitNoProcessMatching(folder(), absl::Seconds(5)).empty());
  // Shared memory and Unix sockets have no names that could stay behind.
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error)) {
    EXPECT_NE(entry.path().filename().string().rfind("ringside", 0), 0u) << entry.path();
  }
  // Every survivor says the same in its own last line.
  std::vector<std::string> survivors = {"worker-0", "worker-1", "worker-2"};
  if (fault.strategy == "ps") survivors.insert(survivors.end(), {"shard-0", "shard-1"});
  for (const std::string& survivor : survivors) {
    if (absl::StrReplaceAll(survivor, {{"-", " "}}) == fault.victim) continue;
    EXPECT_THAT(Log(survivor), HasSubstr(absl::StrCat(fault.victim, " was lost at step ")))
        << survivor;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Faults, FaultTest,
    ::testing::Values(
        Fault{"RingWorkerKilled", "ring", "worker 1", "--rank=1", SIGKILL},
        Fault{"RingWorkerStopped", "ring", "worker 2", "--rank=2", SIGSTOP},
        Fault{"RingWorkerZeroKilled", "ring", "worker 0", "--rank=0", SIGKILL},
        Fault{"TcpKilled", "ring", "worker 1", "--rank=1", SIGKILL, {"--ring_link=tcp"}},
        Fault{"TcpStopped", "ring", "worker 1", "--rank=1", SIGSTOP, {"--ring_link=tcp"}},
        Fault{"UdsKilled", "ring", "worker 2", "--rank=2", SIGKILL, {"--ring_link=uds"}},
        Fault{"UdsStopped", "ring", "worker 2", "--rank=2", SIGSTOP, {"--ring_link=uds"}},
        Fault{"GrpcKilled", "ring", "worker 1", "--rank=1", SIGKILL, {"--ring_link=grpc"}},
        Fault{"GrpcStopped", "ring", "worker 0", "--rank=0", SIGSTOP, {"--ring_link=grpc"}},
        Fault{"DirectKilled", "ring", "worker 2", "--rank=2", SIGKILL, {"--schedule=direct"}},
        Fault{"DirectStopped", "ring", "worker 1", "--rank=1", SIGSTOP, {"--schedule=direct"}},
        Fault{"PsWorkerKilled", "ps", "worker 2", "--rank=2", SIGKILL},
        Fault{"PsWorkerStopped", "ps", "worker 1", "--rank=1", SIGSTOP},
        Fault{"ShardKilled", "ps", "shard 1", "--shard=1", SIGKILL},
        Fault{"ShardStopped", "ps", "shard 0", "--shard=0", SIGSTOP}),
    [](const ::testing::TestParamInfo<Fault>& info) { return info.param.name; });

class EndTest : public FaultTest {};

TEST_F(EndTest, CtrlCEndsEverything) {
  const std::unique_ptr<TestProcess> job = StartEndlessJob("ps");
  ASSERT_TRUE(AwaitTraining()) << job->output();
  job->Signal(SIGINT);
  EXPECT_EQ(job->Wait(absl::Seconds(20)).status, 130);
  EXPECT_TRUE(AwaitNoProcessMatching(folder(), absl::Seconds(5)).empty());
}

TEST_F(EndTest, NothingOutlivesAKilledLauncher) {
  const std::unique_ptr<TestProcess> job = StartEndlessJob("ring");
  ASSERT_TRUE(AwaitTraining()) << job->output();
  ASSERT_EQ(DescendantsOf(job->pid()).size(), 3u);
  job->Signal(SIGKILL);
  job->Wait(absl::Seconds(10));
  EXPECT_TRUE(AwaitNoProcessMatching(folder(), absl::Seconds(5)).empty());
}

}  // namespace
}  // namespace ringside
