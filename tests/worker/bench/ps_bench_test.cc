// The real program with its workers and shards.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ps_bench.pb.h"
#include "tests/testing/process.h"

namespace ringside {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Seconds(120);

TestProcess::Config Bench(const std::vector<std::string>& flags) {
  TestProcess::Config config;
  config.argv = {RINGSIDE_PS_BENCH};
  config.argv.insert(config.argv.end(), flags.begin(), flags.end());
  return config;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = testing::TempDir() + "/ps_bench_XXXXXX";
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

TEST(PsBenchTest, ASmokeRunMeasuresAndVerifiesEverything) {
  const TemporaryFolder folder;
  const TestProcess::Ended ended =
      RunProcess(Bench({"--smoke", "--targets", absl::StrCat("--out=", folder.path())}), kPatience);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("share of raw gRPC"));
  EXPECT_THAT(ReadFile(folder.path() + "/ps_bench.csv"), HasSubstr("contender,link,workers"));
  PsBenchResult result;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  ReadFile(folder.path() + "/ps_bench.json"), &result)
                  .ok())
      << ended.output;
  std::vector<std::string> contenders;
  for (const PsMeasurement& each : result.measurements()) {
    contenders.push_back(each.contender());
    EXPECT_GT(each.time_us(), 0) << each.contender();
    EXPECT_EQ(each.wrong(), 0) << each.contender();
    EXPECT_EQ(each.verified(), each.contender() != "memory") << each.contender();
    EXPECT_EQ(each.ceiling_share() > 0, !each.ceiling().empty()) << each.contender();
    EXPECT_EQ(each.round_median_us_size(), 2) << each.contender();
  }
  for (const char* name : {"raw/grpc_tcp/callback", "raw/grpc_tcp/sync", "ps/grpc_tcp",
                           "raw/grpc_uds/callback", "raw/grpc_uds/sync", "memory", "add", "fold"}) {
    EXPECT_THAT(contenders, Contains(name));
  }
  // Of 2/1 and 3/2 workers and shards.
  ASSERT_GE(result.shard_memory_size(), 1 + 2);
  for (const PsShardMemory& each : result.shard_memory()) {
    EXPECT_GT(each.peak_rss_bytes(), each.arena_bytes());
    EXPECT_GT(each.parked_bytes(), 0);
  }
  EXPECT_GT(result.targets_size(), 0);
  EXPECT_GT(result.provenance().cores(), 0);
}

TEST(PsBenchTest, BadInputIsOneLineAndStatusTwo) {
  struct BadCase {
    std::vector<std::string> flags;
    const char* message;
  };
  for (const BadCase& bad : {
           BadCase{{"--workers_shards=4"}, "--workers_shards: \"4\" is no number of workers"},
           BadCase{{"--sizes=3"}, "--sizes: \"3\" is no size"},
           BadCase{{"--links=pigeon"}, "--links: pigeon: must be one of"},
           BadCase{{"--contenders=ps/pigeon"}, "--contenders: no \"ps/pigeon\""},
           BadCase{{"--role=rank"}, "for the bench's own use"},
           BadCase{{"--link=shm"}, "did you mean --links"},
           BadCase{{"shm"}, "unexpected argument"},
           BadCase{{"--out=/proc/none"}, "--out=/proc/none"},
       }) {
    const TestProcess::Ended ended = RunProcess(Bench(bad.flags), kPatience);
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(bad.message));
    EXPECT_EQ(std::count(ended.output.begin(), ended.output.end(), '\n'), 1) << ended.output;
  }
}

// Runs for longer than any test takes.
std::unique_ptr<TestProcess> StartLongRun() {
  auto bench = TestProcess::Start(
      Bench({"--workers_shards=2/1", "--sizes=64K", "--links=grpc_tcp", "--rounds=100000"}));
  EXPECT_TRUE(bench->WaitForOutput("2/1 workers/shards, 64K", kPatience)) << bench->output();
  return bench;
}

ProcessEntry FindRank(const TestProcess& bench, int rank) {
  for (const ProcessEntry& each : DescendantsOf(bench.pid())) {
    if (absl::StrContains(each.command_line, absl::StrCat("--rank=", rank))) return each;
  }
  ADD_FAILURE() << "no rank " << rank;
  return {};
}

TEST(PsBenchTest, AKilledProcessIsNamedAndNothingIsLeft) {
  for (const int rank : {1, 2}) {  // a worker, the shard
    const auto bench = StartLongRun();
    const std::vector<ProcessEntry> ranks = DescendantsOf(bench->pid());
    const ProcessEntry victim = FindRank(*bench, rank);
    ASSERT_GT(victim.pid, 0);
    kill(victim.pid, SIGKILL);
    const TestProcess::Ended ended = bench->Wait(kPatience);
    EXPECT_EQ(ended.status, 1) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(absl::StrCat("rank ", rank, " (process ", victim.pid,
                                                     ") has ended: killed by signal 9")));
    EXPECT_THAT(ended.output, HasSubstr("1 shards (from rank 2)"));
    for (const ProcessEntry& each : ranks) EXPECT_FALSE(ProcessRuns(each.pid));
  }
}

TEST(PsBenchTest, WorkersAndShardsEndWithABenchThatIsKilled) {
  const auto bench = StartLongRun();
  const std::vector<ProcessEntry> ranks = DescendantsOf(bench->pid());
  ASSERT_EQ(ranks.size(), 3u);
  bench->Signal(SIGKILL);
  for (const ProcessEntry& each : ranks) {
    EXPECT_TRUE(AwaitCondition([&each] { return !ProcessRuns(each.pid); }, kPatience))
        << each.command_line;
  }
}

TEST(PsBenchTest, AStoppedShardIsADeadline) {
  const auto bench =
      TestProcess::Start(Bench({"--workers_shards=2/1", "--sizes=64K", "--links=grpc_tcp",
                                "--rounds=100000", "--timeout=2s"}));
  ASSERT_TRUE(bench->WaitForOutput("2/1 workers/shards, 64K", kPatience)) << bench->output();
  const ProcessEntry shard = FindRank(*bench, 2);
  ASSERT_GT(shard.pid, 0);
  kill(shard.pid, SIGSTOP);
  const TestProcess::Ended ended = bench->Wait(kPatience);
  EXPECT_EQ(ended.status, 1) << ended.output;
  EXPECT_THAT(ended.output, AnyOf(HasSubstr("have not come in time"), HasSubstr("has waited"),
                                  HasSubstr("no answer in time from rank 2")));
  EXPECT_FALSE(ProcessRuns(shard.pid));
}

}  // namespace
}  // namespace ringside
