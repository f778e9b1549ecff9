// What a user of `ringside` sees: refusals, `coordinator`, and that nothing is left when it is
// interrupted or killed. The binary under test is the real one; beside it lies fake_member under
// the names of `worker` and `ps_server`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "experiments/log_tail.h"
#include "tests/testing/process.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

namespace fs = std::filesystem;

constexpr absl::Duration kTimeout = absl::Seconds(60);

class RingsideCliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/ringside_cli_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  TestProcess::Config Ringside(std::vector<std::string> arguments) const {
    TestProcess::Config config;
    config.argv = {absl::StrCat(RINGSIDE_FAKE_BINARIES, "/ringside")};
    config.argv.insert(config.argv.end(), arguments.begin(), arguments.end());
    config.working_directory = folder_;
    return config;
  }

  // The one line that is printed, without time and name; the exit status must be 2.
  std::string Refusal(const std::vector<std::string>& arguments) const {
    const TestProcess::Ended ended = RunProcess(Ringside(arguments), kTimeout);
    EXPECT_EQ(ended.status, 2) << ended.output;
    const std::vector<std::string> lines = absl::StrSplit(ended.output, '\n', absl::SkipEmpty());
    EXPECT_THAT(lines, SizeIs(1));
    EXPECT_TRUE(fs::is_empty(folder_));
    return lines.empty() ? "" : StripLogPrefix(lines.front());
  }

  std::string Results(const std::string& out) const {
    std::ifstream file(absl::StrCat(folder_, "/", out, "/results.json"));
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }

  std::string folder_;
};

TEST_F(RingsideCliTest, AlonePrintsHowToUseIt) {
  const TestProcess::Ended ended = RunProcess(Ringside({}), kTimeout);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, AllOf(StartsWith("usage: ringside COMMAND"), HasSubstr("  compare ")));
}

TEST_F(RingsideCliTest, HelpListsTheFlags) {
  for (const char* way : {"help", "--help"}) {
    const TestProcess::Ended ended = RunProcess(Ringside({way}), kTimeout);
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.output,
                AllOf(HasSubstr("--strategy="), HasSubstr("--trials="), HasSubstr("--lease=")));
  }
}

TEST_F(RingsideCliTest, RefusesInOneLine) {
  EXPECT_EQ(Refusal({"fly"}),
            "unknown command \"fly\": must be one of run, compare, sweep, report, diff, predict, "
            "export, coordinator, doctor, help");
  EXPECT_EQ(Refusal({"run", "--srategy=ps"}), "unknown flag --srategy; did you mean --strategy?");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--strategy=mesh"}),
            "--strategy=mesh: must be one of ps, ring, local, data_parallel, nccl");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--model=vgg19"}),
            "--model=vgg19: must be one of mlp, lenet, resnet18, resnet50, resnet101, vgg16, "
            "deeplabv3_resnet101, transformer, gpt, shapes");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--dataset=cifar"}),
            "--dataset=cifar: must be one of mnist, cifar10, image_folder, voc, imdb, text, "
            "synthetic");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--workers=0"}),
            "--workers=0: must be at least 1 and at most 1024");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--workers=-2"}),
            "--workers=-2: must be at least 1 and at most 1024");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--workers=1,2"}),
            "--workers=1,2: must be one number; only `ringside compare` takes a list");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--ps_shards=0"}),
            "--ps_shards=0: must be at least 1 and at most 1024");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--batch_size=0"}), "--batch_size=0: must be at least 1");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--strategy=ps", "--workers=2", "--ps_shards=255"}),
            "--workers=2 and --ps_shards=255: a job that is launched on one machine may have at "
            "most 256 processes");
  EXPECT_EQ(Refusal({"compare", "--steps=1", "--out=x", "--strategies=ring", "--workers=1,257"}),
            "--workers=257: a job that is launched on one machine may have at most 256 processes");
  EXPECT_EQ(Refusal({"run"}), "--steps=0 and --epochs=0: exactly one of them must be positive");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--trials=2"}),
            "--trials has no meaning for `ringside run`; it is for `ringside compare`");
  EXPECT_EQ(Refusal({"run", "--steps=1", "again"}),
            "ringside run: unexpected argument \"again\"; flags begin with --");
  EXPECT_EQ(Refusal({"compare", "--steps=1"}),
            "--out= : must name the folder for the comparison's results");
  EXPECT_EQ(Refusal({"compare", "--steps=1", "--out=x", "--workers=1,two"}),
            "--workers=1,two: \"two\" is not a whole number");
  EXPECT_EQ(
      Refusal({"compare", "--steps=1", "--out=x", "--strategy=ps"}),
      "--strategy has no meaning for `ringside compare`; `ringside compare` takes --strategies");
  EXPECT_THAT(Refusal({"run", "--steps=1", "--out=/dev/null/x"}),
              StartsWith("--out=/dev/null/x: cannot be written"));
  EXPECT_EQ(Refusal({"run", "--steps=1", "--dry_run"}),
            "--dry_run has no meaning for `ringside run`; it is for `ringside sweep`");
  EXPECT_EQ(
      Refusal({"sweep", "--out=x"}),
      "`ringside sweep` needs one spec, e.g. `ringside sweep experiments/specs/bandwidth.textproto "
      "--out=results/bandwidth`");
  EXPECT_EQ(Refusal({"sweep", "a.textproto"}),
            "--out= : must name the folder for the sweep's results");
  EXPECT_EQ(Refusal({"sweep", "a.textproto", "--out=x"}),
            "reading a.textproto: No such file or directory");
  EXPECT_EQ(Refusal({"report", "nowhere"}), "nowhere/results.json is missing");
  EXPECT_EQ(Refusal({"report", "a", "b"}),
            "ringside report a b: needs --out=DIR for the merged report");
  EXPECT_EQ(Refusal({"diff", "nowhere"}),
            "`ringside diff` compares two results, not 1: e.g. `ringside diff before after`");
  EXPECT_EQ(Refusal({"diff", "nowhere", "there"}), "nowhere/results.json is missing");
  EXPECT_EQ(Refusal({"diff", "a", "b", "--tolerance=-0.1"}),
            "--tolerance=-0.1: must be 0 or more, e.g. 0.02 for 2 %");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--tolerance=0.1"}),
            "--tolerance has no meaning for `ringside run`; it is for `ringside diff`");
  EXPECT_EQ(Refusal({"predict", "nowhere"}),
            "`ringside predict` needs the numbers of workers, e.g. --workers=8,64,1024");
  EXPECT_EQ(Refusal({"predict", "nowhere", "--workers=8", "--bandwidth=25"}),
            "--bandwidth=25: must be a bandwidth in kbit, mbit or gbit, at least 0.001kbit and at "
            "most 1000000gbit, e.g. --bandwidth=25gbit");
  EXPECT_EQ(Refusal({"predict", "nowhere", "--workers=8", "--latency=20"}),
            "--latency=20: must be a latency one way in us, ms or s, at most 1000s, e.g. "
            "--latency=20us");
  EXPECT_EQ(Refusal({"predict", "nowhere", "--workers=8", "--parameters=many"}),
            "--parameters=many: must be a number from 1 to 1e11, k, M or B behind it or not, e.g. "
            "--parameters=25.6M");
  // More than can be emulated.
  EXPECT_EQ(Refusal({"predict", "nowhere", "--workers=8", "--bandwidth=400gbit", "--latency=0us"}),
            "reading nowhere/results.json: No such file or directory");
  EXPECT_EQ(Refusal({"predict", "nowhere", "--workers=8"}),
            "reading nowhere/results.json: No such file or directory");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--network=400gbit"}),
            "--network=400gbit: the bandwidth of an emulated network must be at least 100kbit and "
            "at most 100gbit, e.g. --network=1gbit,100us");
  EXPECT_EQ(Refusal({"run", "--steps=1", "--bandwidth=1gbit"}),
            "--bandwidth has no meaning for `ringside run`; it is for `ringside predict`");
  EXPECT_EQ(Refusal({"coordinator"}),
            "--coordinator= : must be host:port, e.g. --coordinator=10.0.0.1:4000");
}

TEST_F(RingsideCliTest, ResultsAreNotReplacedUnasked) {
  fs::create_directory(folder_ + "/out");
  std::ofstream(folder_ + "/out/results.json") << "{}";
  const TestProcess::Ended ended =
      RunProcess(Ringside({"run", "--steps=1", "--out=out"}), kTimeout);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, HasSubstr("--out=out: already holds results (results.json)"));
}

TEST_F(RingsideCliTest, WhatAWorkerRefusesIsRefusedAndNothingStays) {
  TestProcess::Config config = Ringside({"run", "--steps=1", "--workers=2", "--out=out"});
  config.environment["FAKE_WORKER_0"] = "refuse";
  const TestProcess::Ended ended = RunProcess(config, kTimeout);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output,
              HasSubstr("worker 0 (exit status 2) ended before all processes had joined: "
                        "--data_dir=nowhere: no such folder\n"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(RingsideCliTest, ResultsTellWhatTheMachineCanDoAtMost) {
  RunProcess(Ringside({"run", "--strategy=ps", "--steps=1", "--workers=1", "--out=out"}), kTimeout);
  EXPECT_THAT(Results("out"), HasSubstr("\"ceilings\":{\"tcp\":{\"bytes_per_s\":"));
  // Nobody to exchange anything with.
  RunProcess(Ringside({"run", "--strategy=ring", "--steps=1", "--workers=1", "--out=alone"}),
             kTimeout);
  EXPECT_THAT(Results("alone"), AllOf(HasSubstr("\"runs\""), Not(HasSubstr("\"ceilings\":{"))));
  // The launcher's own note goes where worker 0 has left the rest.
  RunProcess(Ringside({"compare", "--strategies=ring", "--steps=1", "--workers=2", "--trials=1",
                       "--out=compared"}),
             kTimeout);
  int noted = 0;
  for (const auto& run : fs::directory_iterator(folder_ + "/compared/runs"))
    noted += absl::StrContains(Results("compared/runs/" + run.path().filename().string()),
                               "\"ceilings\"");
  EXPECT_EQ(noted, 1);
}

TEST_F(RingsideCliTest, CtrlCEndsEverything) {
  TestProcess::Config config =
      Ringside({"run", "--steps=1", "--workers=2", "--out=" + folder_ + "/out"});
  config.environment["FAKE_WORKER_0"] = "hang";
  const auto ringside = TestProcess::Start(config);
  ASSERT_TRUE(AwaitCondition(
      [this] {
        return LastLogLine(folder_ + "/out/logs/worker-0.log").find("hangs") != std::string::npos;
      },
      kTimeout))
      << ringside->output();
  ringside->Signal(SIGINT);
  const TestProcess::Ended ended = ringside->Wait(kTimeout);
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(ended.output, HasSubstr("interrupted by signal 2"));
  EXPECT_THAT(ProcessesMatching(folder_), IsEmpty());
}

TEST_F(RingsideCliTest, AKilledLauncherTakesItsChildrenWithIt) {
  TestProcess::Config config =
      Ringside({"run", "--strategy=ps", "--steps=1", "--workers=2", "--out=" + folder_ + "/out"});
  for (const char* who : {"FAKE_WORKER_0", "FAKE_WORKER_1", "FAKE_SHARD_0"})
    config.environment[who] = "hang";
  const auto ringside = TestProcess::Start(config);
  ASSERT_TRUE(AwaitCondition([&] { return DescendantsOf(ringside->pid()).size() == 3; }, kTimeout));
  const std::vector<ProcessEntry> children = DescendantsOf(ringside->pid());
  ringside->Signal(SIGKILL);
  EXPECT_EQ(ringside->Wait(kTimeout).status, 128 + SIGKILL);
  for (const ProcessEntry& child : children) {
    EXPECT_TRUE(AwaitCondition([&] { return !ProcessRuns(child.pid); }, kTimeout))
        << child.command_line;
  }
}

// Starts `ringside coordinator` at any free port and a member by hand.
class CoordinatorCommandTest : public RingsideCliTest {
 protected:
  std::unique_ptr<TestProcess> StartCoordinator(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"coordinator", "--coordinator=127.0.0.1:0"});
    auto coordinator = TestProcess::Start(Ringside(arguments));
    EXPECT_TRUE(coordinator->WaitForOutput("coordinator at 127.0.0.1:[0-9]+\n", kTimeout))
        << coordinator->output();
    const std::string output = coordinator->output();
    const size_t at = output.find("127.0.0.1:");
    address_ = output.substr(at, output.find('\n', at) - at);
    return coordinator;
  }

  std::unique_ptr<TestProcess> StartMember(
      const std::string& binary, const std::vector<std::string>& flags,
      const std::map<std::string, std::string>& environment = {}) {
    TestProcess::Config config;
    config.argv = {absl::StrCat(RINGSIDE_FAKE_BINARIES, "/", binary), "--coordinator=" + address_,
                   "--out=" + folder_};
    config.argv.insert(config.argv.end(), flags.begin(), flags.end());
    config.environment = environment;
    return TestProcess::Start(config);
  }

  std::string address_;
};

TEST_F(CoordinatorCommandTest, EndsWellWhenAllHaveLeft) {
  const auto coordinator =
      StartCoordinator({"--strategy=ps", "--workers=1", "--ps_shards=1", "--token=secret"});
  const std::vector<std::string> common = {"--strategy=ps", "--workers=1", "--ps_shards=1",
                                           "--token=secret"};
  std::vector<std::string> worker_flags = common;
  worker_flags.push_back("--rank=0");
  std::vector<std::string> shard_flags = common;
  shard_flags.push_back("--shard=0");
  const auto worker = StartMember("worker", worker_flags);
  EXPECT_TRUE(coordinator->WaitForOutput("shard 0", kTimeout))
      << coordinator->output();  // says whom it lacks
  const auto shard = StartMember("ps_server", shard_flags);
  EXPECT_EQ(worker->Wait(kTimeout).status, 0) << worker->output();
  EXPECT_EQ(shard->Wait(kTimeout).status, 0) << shard->output();
  const TestProcess::Ended ended = coordinator->Wait(kTimeout);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, EndsWith("all members have left in good order\n"));
}

TEST_F(CoordinatorCommandTest, AShardStartedAgainByHandTakesTheLostOnesPlace) {
  const std::vector<std::string> job = {"--strategy=ps", "--workers=1", "--ps_shards=1"};
  std::vector<std::string> tolerant = job;
  tolerant.push_back("--restart_shards=1");
  const auto coordinator = StartCoordinator(tolerant);
  std::vector<std::string> worker_flags = job;
  worker_flags.push_back("--rank=0");
  std::vector<std::string> shard_flags = job;
  shard_flags.push_back("--shard=0");
  const auto worker = StartMember("worker", worker_flags);
  const auto first = StartMember("ps_server", shard_flags, {{"FAKE_SHARD_0", "kill_once"}});
  EXPECT_EQ(first->Wait(kTimeout).status, 128 + SIGKILL);
  EXPECT_TRUE(coordinator->WaitForOutput("a replacement may join within 2m", kTimeout))
      << coordinator->output();
  const auto second = StartMember("ps_server", shard_flags, {{"FAKE_SHARD_0", "kill_once"}});
  EXPECT_EQ(second->Wait(kTimeout).status, 0) << second->output();
  EXPECT_EQ(worker->Wait(kTimeout).status, 0) << worker->output();
  const TestProcess::Ended ended = coordinator->Wait(kTimeout);
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("takes the place of the one that was lost"));
}

TEST_F(RingsideCliTest, RestartsNeedShards) {
  const TestProcess::Ended ended =
      RunProcess(Ringside({"run", "--strategy=ring", "--steps=1", "--restart_shards=1"}), kTimeout);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output,
              HasSubstr("--restart_shards=1: must be 0 with --strategy=ring, which has no shards"));
}

TEST_F(CoordinatorCommandTest, EndsWithTheVerdict) {
  const auto coordinator = StartCoordinator({"--workers=2", "--lease=2s"});
  const auto first = StartMember("worker", {"--workers=2", "--rank=0"});
  const auto second =
      StartMember("worker", {"--workers=2", "--rank=1"}, {{"FAKE_WORKER_1", "kill"}});
  EXPECT_EQ(second->Wait(kTimeout).status, 128 + SIGKILL);
  EXPECT_EQ(first->Wait(kTimeout).status, 1);
  const TestProcess::Ended ended = coordinator->Wait(kTimeout);
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.output, HasSubstr("error: worker 1"));
}

TEST_F(CoordinatorCommandTest, ATakenPortIsRefused) {
  const auto coordinator = StartCoordinator({});
  const TestProcess::Ended ended =
      RunProcess(Ringside({"coordinator", "--coordinator=" + address_}), kTimeout);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, HasSubstr(address_.substr(address_.find(':') + 1)));
  coordinator->Signal(SIGTERM);
  EXPECT_EQ(coordinator->Wait(kTimeout).status, 143);
}

TEST_F(CoordinatorCommandTest, NobodyComingIsNotWaitedForForever) {
  const auto coordinator = StartCoordinator({"--join_timeout=200ms"});
  const TestProcess::Ended ended = coordinator->Wait(kTimeout);
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.output, HasSubstr("not all members joined within --join_timeout"));
}

}  // namespace
}  // namespace ringside
