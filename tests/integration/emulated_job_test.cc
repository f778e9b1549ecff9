// Real jobs in emulated networks: the same bits, over the links that were asked for, in the time
// that these take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "experiments/network/emulated_network.h"
#include "tests/experiments/network/namespace_witness.h"
#include "tests/integration/job.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class EmulatedJobTest : public JobTest {
 protected:
  void SetUp() override {
    const absl::Status possible = CanEmulate();
    if (!possible.ok()) GTEST_SKIP() << possible.message();
    std::ofstream(folder() + "/shapes.txt") << "first 250000\nlast 100\n";  // 1 MB
  }

  std::vector<std::string> Flags(const std::string& strategy,
                                 const std::vector<std::string>& more) const {
    std::vector<std::string> flags = {
        "--strategy=" + strategy,
        "--workers=2",
        "--batch_size=4",
        "--model=shapes",
        "--momentum=0.9",
        absl::StrCat("--model_args=seed=5,file=", folder(), "/shapes.txt")};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }

  RunResult RunOne(const std::string& name, const std::string& strategy,
                   const std::vector<std::string>& more) const {
    std::vector<std::string> flags = Flags(strategy, more);
    flags.insert(flags.end(), {"--steps=5", "--warmup_steps=1"});
    return Run(name, flags).runs(0);
  }

  // `ringside run`, which goes on.
  std::unique_ptr<TestProcess> StartRun(const std::vector<std::string>& own_flags) const {
    std::vector<std::string> flags = JobFlags(own_flags);
    flags.insert(flags.begin(), "run");
    return TestProcess::Start(Command("ringside", flags));
  }

  // Rank 1 of a job, once it is there and `ready`; -1: it has not been for a minute.
  static pid_t AwaitWorker(TestProcess* job, const std::function<bool(pid_t worker)>& ready) {
    pid_t worker = -1;
    const bool found = AwaitCondition(
        [&] {
          worker = FindChild(job->pid(), "worker", "--rank=1");
          return worker > 0 && ready(worker);
        },
        absl::Minutes(1));
    return found ? worker : -1;
  }

  static std::vector<std::string> Hosts(const RunResult& run) {
    return {run.network().hosts().begin(), run.network().hosts().end()};
  }
  static std::string Fact(const RunResult& run, const std::string& name) {
    const auto& facts = run.worker_results(0).process().facts();
    const auto found = facts.find(name);
    return found == facts.end() ? "" : found->second;
  }
  static double FastestStep(const RunResult& run) {
    double fastest = 1e9;
    for (const StepRecord& step : run.worker_results(0).steps())
      fastest = std::min(fastest, step.step_s());
    return fastest;
  }
};

TEST_F(EmulatedJobTest, BitsAreThoseOfARunWithoutANetwork) {
  const std::string alone = RunOne("local", "local", {}).parameters_sha256();
  EXPECT_EQ(alone.size(), 64u);
  const std::string network = "--network=500mbit,500us";
  const RunResult ring = RunOne("ring", "ring", {network});
  EXPECT_EQ(ring.parameters_sha256(), alone);
  EXPECT_EQ(Fact(ring, "right_link"), "tcp");
  EXPECT_EQ(Fact(ring, "congestion_control"), ring.network().congestion_control());
  EXPECT_THAT(Hosts(ring), ElementsAre("worker 0", "worker 1"));
  EXPECT_EQ(ring.settings().at("network"), "500mbit,500us");
  EXPECT_EQ(ring.network().bandwidth_mbit(), 500);
  EXPECT_EQ(ring.network().latency_us(), 500);
  ASSERT_EQ(ring.network().probes_size(), 2);
  for (const LinkProbe& probe : ring.network().probes()) {
    EXPECT_GE(probe.round_trip_us(), 1000);
    EXPECT_GT(probe.bandwidth_mbit(), 0);
    EXPECT_LE(probe.bandwidth_mbit(), 510);
  }
  const RunResult ps = RunOne("ps", "ps", {network, "--ps_shards=2"});
  EXPECT_EQ(ps.parameters_sha256(), alone);
  EXPECT_EQ(Fact(ps, "ps_link"), "grpc_tcp");
  EXPECT_THAT(Hosts(ps), ElementsAre("worker 0", "worker 1", "shard 0", "shard 1"));
  const RunResult colocated =
      RunOne("colocated", "ps", {network, "--ps_shards=2", "--placement=colocated"});
  EXPECT_EQ(colocated.parameters_sha256(), alone);
  EXPECT_EQ(colocated.settings().at("placement"), "colocated");
  EXPECT_THAT(Hosts(colocated), ElementsAre("worker 0, shard 0", "worker 1, shard 1"));
}

TEST_F(EmulatedJobTest, AStepTakesAtLeastTheTimeOfItsBytes) {
  // Each of two ranks sends 1 MB a step: 80 ms at 100 Mbit/s.
  EXPECT_GE(FastestStep(RunOne("ring", "ring", {"--network=100mbit"})), 0.078);
  // A shard sends 1 MB to each of two workers.
  EXPECT_GE(FastestStep(RunOne("ps", "ps", {"--network=100mbit"})), 0.155);
}

TEST_F(EmulatedJobTest, RunsOfAComparisonKeepTheirNetwork) {
  std::vector<std::string> flags =
      JobFlags({"--model=shapes", absl::StrCat("--model_args=file=", folder(), "/shapes.txt"),
                "--steps=3", "--workers=2", "--trials=1", "--strategies=ring,ps,local",
                "--network=1gbit", "--out=" + folder() + "/out"});
  flags.insert(flags.begin(), "compare");
  const TestProcess::Ended ended = RunProcess(Command("ringside", flags), absl::Minutes(2));
  EXPECT_EQ(ended.status, 0) << ended.output;
  const ComparisonResult comparison = ReadResult(folder() + "/out");
  ASSERT_EQ(comparison.runs_size(), 3);
  for (const RunResult& run : comparison.runs()) {
    EXPECT_EQ(run.has_network(), run.strategy() != "local") << run.strategy();
    EXPECT_EQ(run.settings().at("network"), "1gbit");
  }
  int with_network = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder() + "/out/runs")) {
    std::ifstream file(entry.path() / "results.json");
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    with_network += absl::StrContains(text, "\"probes\"") ? 1 : 0;
  }
  EXPECT_EQ(with_network, 2);
}

TEST_F(EmulatedJobTest, NothingIsLeftAfterANormalEnd) {
  const auto process =
      StartRun(Flags("ring", {"--steps=40", "--network=100mbit", "--out=" + folder() + "/out"}));
  const pid_t worker = AwaitWorker(process.get(), [](pid_t /*worker*/) { return true; });
  ASSERT_GT(worker, 0) << process->output();
  const NamespaceWitness witness(absl::StrCat("/proc/", worker, "/ns/net"));
  EXPECT_TRUE(witness.there());
  EXPECT_EQ(process->Wait(absl::Minutes(2)).status, 0) << process->output();
  EXPECT_TRUE(witness.AwaitGone(absl::Seconds(20)));
}

// By the eth0 of the network namespace of a process.
int64_t BytesSent(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/net/dev"));
  std::string line;
  while (std::getline(file, line)) {
    absl::string_view rest = absl::StripLeadingAsciiWhitespace(line);
    if (!absl::ConsumePrefix(&rest, "eth0:")) continue;
    const std::vector<std::string> numbers = absl::StrSplit(rest, ' ', absl::SkipEmpty());
    return numbers.size() > 8 ? std::stoll(numbers[8]) : 0;  // after 8 of what was received
  }
  return 0;
}

TEST_F(EmulatedJobTest, NothingIsLeftAfterSigkillInMidStream) {
  for (const char* network : {"100mbit", "100mbit,1ms"}) {
    for (const char* strategy : {"ring", "ps"}) {
      const std::string name = absl::StrCat(strategy, "-", network);
      SCOPED_TRACE(name);
      const auto process =
          StartRun(Flags(strategy, {"--steps=1000000", absl::StrCat("--network=", network),
                                    absl::StrCat("--out=", folder(), "/", name)}));
      const pid_t worker =
          AwaitWorker(process.get(), [](pid_t worker) { return BytesSent(worker) > 5'000'000; });
      ASSERT_GT(worker, 0) << process->output();
      std::vector<NamespaceWitness> witnesses;
      for (const std::string& path : NamespacesHeldBy(process->pid())) witnesses.emplace_back(path);
      EXPECT_EQ(witnesses.size(), std::string(strategy) == "ps" ? 5u : 4u);
      process->Signal(SIGKILL);
      EXPECT_EQ(process->Wait(absl::Seconds(20)).status, 128 + SIGKILL);
      const absl::Time ended = absl::Now();
      for (const NamespaceWitness& witness : witnesses)
        EXPECT_TRUE(witness.AwaitGone(ended + kTakedown - absl::Now()));
      EXPECT_THAT(AwaitNoProcessMatching(folder(), absl::Seconds(20)), IsEmpty());
    }
  }
}

}  // namespace
}  // namespace ringside
