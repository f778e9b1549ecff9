// `ringside run --network` with fake members: what is refused, and that no namespace outlives it,
// however it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "experiments/network/emulated_network.h"
#include "tests/experiments/network/namespace_witness.h"
#include "tests/testing/process.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

constexpr absl::Duration kTimeout = absl::Seconds(60);
constexpr char kNetwork[] = "100mbit,1ms";

class NetworkCliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status possible = CanEmulate();
    if (!possible.ok()) GTEST_SKIP() << possible.message();
    std::string name = ::testing::TempDir() + "/network_cli_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  // A job of two workers and one shard.
  TestProcess::Config Run(const std::vector<std::string>& more) const {
    TestProcess::Config config;
    config.argv = {absl::StrCat(RINGSIDE_FAKE_BINARIES, "/ringside"),
                   "run",
                   "--strategy=ps",
                   "--workers=2",
                   "--steps=2",
                   "--lease=2s",
                   absl::StrCat("--network=", kNetwork),
                   absl::StrCat("--out=", folder_, "/out")};
    config.argv.insert(config.argv.end(), more.begin(), more.end());
    return config;
  }

  std::string Content(const std::string& name) const {
    std::ifstream file(absl::StrCat(folder_, "/out/", name));
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }

  // Starts a job whose worker 1 hangs once all have joined, ends `ringside` by `signal`, and sees
  // all namespaces go.
  void ExpectNothingLeftAfter(int signal, const std::string& network) {
    TestProcess::Config config = Run({"--network=" + network});
    config.environment["FAKE_WORKER_1"] = "hang";
    const auto process = TestProcess::Start(config);
    ASSERT_TRUE(AwaitCondition(
        [this] { return absl::StrContains(Content("logs/worker-1.log"), "hangs"); }, kTimeout))
        << process->output();
    ASSERT_EQ(DescendantsOf(process->pid()).size(), 3u);
    std::vector<NamespaceWitness> witnesses;
    for (const std::string& path : NamespacesHeldBy(process->pid())) witnesses.emplace_back(path);
    ASSERT_EQ(witnesses.size(), 5u);  // of the members, the coordinator and the hub
    for (const NamespaceWitness& witness : witnesses) EXPECT_TRUE(witness.there());
    process->Signal(signal);
    EXPECT_EQ(process->Wait(kTimeout).status, 128 + signal) << process->output();
    const absl::Time ended = absl::Now();
    for (const NamespaceWitness& witness : witnesses)
      EXPECT_TRUE(witness.AwaitGone(ended + kTakedown - absl::Now()));
    EXPECT_THAT(AwaitNoProcessMatching(folder_, kTimeout), IsEmpty());
  }

  std::string folder_;
};

TEST_F(NetworkCliTest, MembersMeetAndTheResultTellsOfTheNetwork) {
  RunProcess(Run({}), kTimeout);
  // The fake result is no whole one, so the gates fail; the job itself has ended well.
  const std::string json = Content("results.json");
  EXPECT_THAT(json, HasSubstr("\"bandwidth_mbit\":100"));
  EXPECT_THAT(json, HasSubstr("\"hosts\":[\"worker 0\",\"worker 1\",\"shard 0\"]"));
}

TEST_F(NetworkCliTest, AReplacedShardIsOnTheSameHost) {
  TestProcess::Config config = Run({"--restart_shards=1"});
  config.environment["FAKE_SHARD_0"] = "kill_once";
  const TestProcess::Ended ended = RunProcess(config, kTimeout);
  EXPECT_THAT(ended.output, HasSubstr("restart 1 of 1"));
  EXPECT_THAT(Content("results.json"), HasSubstr("\"probes\""));
}

TEST_F(NetworkCliTest, NothingIsLeftAfterSigterm) { ExpectNothingLeftAfter(SIGTERM, kNetwork); }
TEST_F(NetworkCliTest, NothingIsLeftAfterSigint) { ExpectNothingLeftAfter(SIGINT, kNetwork); }
TEST_F(NetworkCliTest, NothingIsLeftAfterSigkill) { ExpectNothingLeftAfter(SIGKILL, kNetwork); }
TEST_F(NetworkCliTest, NothingIsLeftAfterSigkillWithoutLatency) {
  ExpectNothingLeftAfter(SIGKILL, "100mbit");
}

TEST_F(NetworkCliTest, RefusesInOneLine) {
  const auto refusal = [this](const std::vector<std::string>& flags) {
    const TestProcess::Ended ended = RunProcess(Run(flags), kTimeout);
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_FALSE(fs::exists(folder_ + "/out"));
    return ended.output;
  };
  EXPECT_THAT(refusal({"--network=fast"}),
              HasSubstr("--network=fast: \"fast\" must be a bandwidth"));
  EXPECT_THAT(refusal({"--network=400gbit,1us"}),
              HasSubstr("--network=400gbit,1us: the bandwidth of an emulated network must be at "
                        "least 100kbit and at most 100gbit, e.g. --network=1gbit,100us"));
  EXPECT_THAT(refusal({"--listen=127.0.0.1"}),
              HasSubstr("--listen=127.0.0.1: must be empty with --network=100mbit,1ms"));
  EXPECT_THAT(refusal({"--strategy=local"}), HasSubstr("must be empty with --strategy=local"));
  EXPECT_THAT(refusal({"--ps_link=shm"}),
              HasSubstr("--ps_link=shm: must be auto or grpc_tcp with --network=100mbit,1ms"));
}

}  // namespace
}  // namespace ringside
