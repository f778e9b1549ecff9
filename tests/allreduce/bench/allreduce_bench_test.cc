// The real program with its rank processes.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "allreduce/bench/foreign_contenders.h"
#include "allreduce_bench.pb.h"
#include "tests/testing/process.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr absl::Duration kPatience = absl::Seconds(120);

TestProcess::Config Bench(std::vector<std::string> flags) {
  TestProcess::Config config;
  config.argv = {RINGSIDE_ALLREDUCE_BENCH};
  config.argv.insert(config.argv.end(), flags.begin(), flags.end());
  return config;
}

TestProcess::Ended RunBench(const std::vector<std::string>& flags) {
  return RunProcess(Bench(flags), kPatience);
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = testing::TempDir() + "/allreduce_bench_XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A short run into a folder; its JSON.
AllReduceBenchResult RunToJson(const std::string& contenders,
                               const std::vector<std::string>& more = {}) {
  const TemporaryFolder folder;
  std::vector<std::string> flags = {absl::StrCat("--contenders=", contenders), "--sizes=4,4K,1M",
                                    "--rounds=2", "--min_time=1ms",
                                    absl::StrCat("--out=", folder.path())};
  flags.insert(flags.end(), more.begin(), more.end());
  const TestProcess::Ended ended = RunBench(flags);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ReadFile(folder.path() + "/allreduce_bench.csv"), HasSubstr("contender,world_size"));
  AllReduceBenchResult result;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(
                  ReadFile(folder.path() + "/allreduce_bench.json"), &result)
                  .ok())
      << ended.output;
  return result;
}

void ExpectAllRight(const AllReduceBenchResult& result, int measurements) {
  EXPECT_EQ(result.measurements_size(), measurements);
  for (const AllReduceMeasurement& each : result.measurements()) {
    EXPECT_GT(each.time_us(), 0) << each.contender();
    EXPECT_EQ(each.wrong(), 0) << each.contender();
    EXPECT_EQ(each.verified(), each.contender() != "memory") << each.contender();
    EXPECT_EQ(absl::StrCat(each.round_median_us_size()), result.settings().at("rounds"));
    EXPECT_EQ(each.ceiling_share() > 0, !each.ceiling().empty()) << each.contender();
  }
}

TEST(AllReduceBenchTest, MeasuresTheCeilings) {
  const AllReduceBenchResult result = RunToJson("raw_tcp,raw_uds,memory", {"--world_sizes=2,3"});
  ExpectAllRight(result, 3 * 3 * 2);
  EXPECT_GT(result.provenance().cores(), 0);
  EXPECT_EQ(result.settings().at("sizes"), "4,4K,1M");
}

TEST(AllReduceBenchTest, OurContendersSumRightAndCountTheirBytes) {
  const AllReduceBenchResult result =
      RunToJson("ring_tcp,ring_uds,ring_shm,ring_shm_unregistered,direct,auto");
  ExpectAllRight(result, (6 + 3) * 3 * 2);
  for (const AllReduceMeasurement& each : result.measurements()) {
    if (each.contender() != "ring_tcp") continue;
    EXPECT_TRUE(each.traffic_counted());
    EXPECT_GT(each.traffic().payload_bytes_sent(), 0);
    EXPECT_EQ(each.traffic().payload_bytes_sent(), each.expected_traffic().payload_bytes_sent());
  }
}

TEST(AllReduceBenchTest, OurContendersSumRightInPlace) {
  ExpectAllRight(RunToJson("ring_tcp,ring_shm,direct", {"--in_place", "--world_sizes=3"}),
                 (3 + 2) * 3);
}

TEST(AllReduceBenchTest, SixteenBitsOnTheWireAreStillExact) {
  ExpectAllRight(RunToJson("ring_tcp,ring_shm", {"--wire_dtype=bf16", "--world_sizes=2"}),
                 (2 + 2) * 3);
}

TEST(AllReduceBenchTest, GlooSumsRight) {
  if (!BaselinesOfThisBuild().gloo) GTEST_SKIP() << "built without Gloo";
  ExpectAllRight(
      RunToJson("gloo,gloo_ring_stock", {"--sizes=4,1M", "--rounds=1", "--world_sizes=4"}),
      (4 + 1) * 2);
}

TEST(AllReduceBenchTest, GlooLeavesBcubeOutWithThreeRanks) {
  if (!BaselinesOfThisBuild().gloo) GTEST_SKIP() << "built without Gloo";
  const AllReduceBenchResult result =
      RunToJson("gloo", {"--sizes=4K", "--rounds=1", "--world_sizes=3"});
  ExpectAllRight(result, 2 + 1);
  ASSERT_EQ(result.notes_size(), 1);
  EXPECT_THAT(result.notes(0), HasSubstr("gloo_bcube is left out with 3 ranks"));
}

TEST(AllReduceBenchTest, OpenMpiSumsRight) {
  if (!BaselinesOfThisBuild().mpi) GTEST_SKIP() << "built without Open MPI";
  if (access("/usr/bin/mpirun", X_OK) != 0) GTEST_SKIP() << "mpirun is not installed";
  ExpectAllRight(RunToJson("mpi,mpi_heap,mpi_tcp,mpi_stock",
                           {"--sizes=4,1M", "--rounds=1", "--world_sizes=3"}),
                 (4 + 2) * 2);
  ExpectAllRight(RunToJson("mpi", {"--sizes=4,1M", "--rounds=1", "--world_sizes=2", "--in_place"}),
                 (1 + 1) * 2);
}

TEST(AllReduceBenchTest, TargetsComeAfterTheResults) {
  const AllReduceBenchResult result = RunToJson("ring_tcp", {"--targets", "--world_sizes=2"});
  EXPECT_GT(result.targets_size(), 0);
  int measured = 0;
  for (const AllReduceTarget& each : result.targets()) measured += each.ratio() > 0 ? 1 : 0;
  EXPECT_EQ(measured, 1) << "ring_tcp against raw_tcp at 1 MiB";
}

TEST(AllReduceBenchTest, OneFormatGoesToStandardOutput) {
  const TestProcess::Ended ended =
      RunBench({"--contenders=raw_uds", "--world_sizes=2", "--sizes=4K", "--rounds=1",
                "--min_time=1ms", "--format=json"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("\"contender\": \"raw_uds\""));
  EXPECT_THAT(ended.output, Not(HasSubstr("time(us)")));
}

TEST(AllReduceBenchTest, BadInputIsOneLineAndStatusTwo) {
  struct BadCase {
    std::vector<std::string> flags;
    const char* message;
  };
  for (const BadCase& bad : {
           BadCase{{"--contenders=nccl"}, "unknown contender \"nccl\""},
           BadCase{{"--sizes=3"}, "--sizes: \"3\" is no size"},
           BadCase{{"--world_sizes=two"}, "--world_sizes: \"two\" is no number of ranks"},
           BadCase{{"--world_sizes=1"}, "--world_sizes: 1 is not between"},
           BadCase{{"--congestion_control=carrier_pigeon"}, "carrier_pigeon"},
           BadCase{{"--role=rank"}, "for the bench's own use"},
           BadCase{{"--contendres=mpi"}, "did you mean --contenders"},
           BadCase{{"ring_tcp"}, "unexpected argument"},
           BadCase{{"--out=/proc/none"}, "--out=/proc/none"},
       }) {
    const TestProcess::Ended ended = RunBench(bad.flags);
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(bad.message));
    EXPECT_EQ(std::count(ended.output.begin(), ended.output.end(), '\n'), 1) << ended.output;
  }
}

TEST(AllReduceBenchTest, AMissingMpirunIsOneLine) {
  if (!BaselinesOfThisBuild().mpi) GTEST_SKIP() << "built without Open MPI";
  TestProcess::Config config = Bench({"--contenders=mpi", "--sizes=4"});
  config.environment["PATH"] = "/nowhere";
  const TestProcess::Ended ended = RunProcess(config, kPatience);
  EXPECT_EQ(ended.status, 2) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("cannot start mpirun"));
}

// The processes that a bench has started with `argument`.
std::vector<ProcessEntry> RanksOf(const TestProcess& bench, const std::string& argument) {
  std::vector<ProcessEntry> ranks;
  for (const ProcessEntry& each : DescendantsOf(bench.pid())) {
    if (absl::StrContains(each.command_line, argument)) ranks.push_back(each);
  }
  return ranks;
}

// Runs for longer than any test takes.
std::unique_ptr<TestProcess> StartLongRun(const std::string& contender) {
  auto bench = TestProcess::Start(Bench({absl::StrCat("--contenders=", contender),
                                         "--world_sizes=2", "--sizes=64K", "--rounds=100000"}));
  EXPECT_TRUE(bench->WaitForOutput("2 ranks, 64K", kPatience)) << bench->output();
  return bench;
}

TEST(AllReduceBenchTest, AKilledRankIsNamedAndNothingIsLeft) {
  std::vector<std::string> contenders = {"raw_tcp", "ring_shm"};
  if (BaselinesOfThisBuild().gloo) contenders.push_back("gloo_ring");
  for (const std::string& contender : contenders) {
    const auto bench = StartLongRun(contender);
    // The last such process belongs to the contender's own group, not to that of its ceiling.
    const std::vector<ProcessEntry> ranks = RanksOf(*bench, "--rank=1");
    ASSERT_THAT(ranks, Not(IsEmpty()));
    pid_t victim = 0;
    for (const ProcessEntry& each : ranks) victim = std::max(victim, each.pid);
    kill(victim, SIGKILL);
    const TestProcess::Ended ended = bench->Wait(kPatience);
    EXPECT_EQ(ended.status, 1) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(absl::StrCat("rank 1 (process ", victim,
                                                     ") has ended: killed by signal 9")));
    for (const ProcessEntry& each : ranks) EXPECT_FALSE(ProcessRuns(each.pid));
  }
}

TEST(AllReduceBenchTest, RanksEndWithABenchThatIsKilled) {
  std::vector<std::string> contenders = {"ring_tcp"};
  if (BaselinesOfThisBuild().mpi && access("/usr/bin/mpirun", X_OK) == 0) {
    contenders.push_back("mpi");
  }
  for (const std::string& contender : contenders) {
    const auto bench = StartLongRun(contender);
    const std::vector<ProcessEntry> ranks = DescendantsOf(bench->pid());
    ASSERT_GE(ranks.size(), 2u);
    bench->Signal(SIGKILL);
    for (const ProcessEntry& each : ranks) {
      EXPECT_TRUE(AwaitCondition([&each] { return !ProcessRuns(each.pid); }, kPatience))
          << each.command_line;
    }
  }
}

}  // namespace
}  // namespace ringside
