// Real jobs that stop and go on: the bits are those of one that never stopped, whatever the
// strategy before and after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "absl/strings/str_cat.h"
#include "tests/integration/checkpoint_job.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

using CheckpointTest = CheckpointJobTest;

TEST_F(CheckpointTest, ARingsCheckpointGoesOnUnderEveryStrategy) {
  const RunResult whole =
      Train("whole", {"--strategy=ring", "--steps=20", "--checkpoint_steps=10"});
  EXPECT_EQ(whole.worker_results(0).checkpoints().written(), 2);
  const std::string resume = "--resume=" + PathOf("whole", 10);
  int number = 0;
  for (const std::vector<std::string>& how : std::vector<std::vector<std::string>>{
           {"--strategy=ps", "--ps_shards=2"},
           {"--strategy=ps", "--ps_shards=1", "--ps_link=grpc_tcp", "--restart_shards=1"},
           {"--strategy=local"},
           {"--strategy=ring", "--ring_link=tcp"}}) {
    std::vector<std::string> flags = how;
    flags.insert(flags.end(), {"--steps=20", resume});
    const RunResult rest = Train(absl::StrCat("rest", ++number), flags);
    ExpectSameState(whole, rest);
    EXPECT_EQ(rest.resumed_from_step(), 10);
    EXPECT_EQ(rest.worker_results(0).steps(0).step(), 11);
    EXPECT_EQ(rest.worker_results(0).steps_size(), 10);
  }
}

TEST_F(CheckpointTest, AJobThatIsToldToEndSavesAndGoesOn) {
  const RunResult whole = Train("whole", {"--strategy=local", "--steps=3000"});
  for (const char* strategy : {"--strategy=ring", "--strategy=ps"}) {
    const std::string name = strategy + 11;
    const std::vector<std::string> flags = {strategy, "--steps=3000", "--checkpoint_steps=200"};
    const auto job = TestProcess::Start(Launch(name, flags));
    ASSERT_TRUE(AwaitCondition([&] { return !Checkpoints(name).empty(); }, absl::Seconds(60)))
        << job->output();
    job->Signal(SIGTERM);
    const TestProcess::Ended ended = job->Wait(absl::Minutes(1));
    ASSERT_EQ(ended.status, 128 + SIGTERM) << ended.output;
    EXPECT_TRUE(AwaitNoProcessMatching(folder(), absl::Seconds(20)).empty());
    std::vector<std::string> more = flags;
    more.push_back("--resume=latest");
    const RunResult rest = Train(name, more);
    ExpectSameState(whole, rest);
    EXPECT_GE(rest.resumed_from_step(), 200);
    // The step after which it ended is most likely none of those that are saved anyway, and records
    // of all steps are there, each once.
    ExpectAllSteps(name, 3000);
  }
}

TEST_F(CheckpointTest, AJobSavesWhenItIsAskedTo) {
  const std::string saved = "--checkpoint_dir=" + folder() + "/asked/checkpoints";
  const auto job = TestProcess::Start(Launch("asked", {"--strategy=ring", "--steps=8000", saved}));
  pid_t worker = -1;
  const std::string log = folder() + "/asked/steps/worker-0.jsonl";
  ASSERT_TRUE(AwaitCondition([&] { return std::filesystem::exists(log); }, absl::Seconds(60)));
  job->Signal(SIGUSR1);
  ASSERT_TRUE(AwaitCondition([&] { return !Checkpoints("asked").empty(); }, absl::Seconds(60)))
      << job->output();
  // A worker that saves nothing goes on.
  worker = FindChild(job->pid(), "worker", "--rank=1");
  if (worker > 0) kill(worker, SIGUSR1);
  const TestProcess::Ended ended = job->Wait(absl::Minutes(1));
  EXPECT_EQ(ended.status, 0) << ended.output;
  const RunResult run = ReadResult(folder() + "/asked").runs(0);
  EXPECT_EQ(run.worker_results(0).checkpoints().written(), 1);
}

// Nobody but worker 0 waits for its disk, neither other processes nor the launcher, and what is in
// the way of the last checkpoint is waited for too.
TEST_F(CheckpointTest, ADiskThatIsSlowerThanAStepMayBeFailsNothing) {
  for (const char* strategy : {"--strategy=ring", "--strategy=ps"}) {
    const std::string name = strategy + 11;
    const std::string gate = folder() + "/gate-" + name;
    WriteFile(gate, "");
    TestProcess::Config config =
        Launch(name, {strategy, "--steps=20", "--checkpoint_steps=10", "--step_timeout=8s"});
    config.environment = {{"LD_PRELOAD", RINGSIDE_SLOW_DISK}, {"SLOW_DISK_GATE", gate}};
    const auto job = TestProcess::Start(config);
    const auto others_run = [&] {
      return FindChild(job->pid(), "worker", "--rank=1") > 0 ||
             FindChild(job->pid(), "ps_server", "--shard=0") > 0;
    };
    ASSERT_TRUE(AwaitCondition(others_run, absl::Seconds(60))) << job->output();
    ASSERT_TRUE(AwaitCondition([&] { return !others_run(); }, absl::Seconds(60)));
    // Longer than a step and a lease may take.
    EXPECT_EQ(job->Wait(absl::Seconds(14)).status, -1) << job->output();
    EXPECT_GT(FindChild(job->pid(), "worker", "--rank=0"), 0);
    std::filesystem::remove(gate);
    const TestProcess::Ended ended = job->Wait(absl::Minutes(1));
    ASSERT_EQ(ended.status, 0) << ended.output;
    const RunResult run = ReadResult(folder() + "/" + name).runs(0);
    EXPECT_EQ(run.worker_results(0).checkpoints().written(), 2);
    EXPECT_TRUE(std::filesystem::exists(PathOf(name, 20)));
    // What is not saved is not trained.
    EXPECT_GT(run.worker_results(0).train_s(), run.worker_results(1).train_s() + 5);
  }
}

TEST_F(CheckpointTest, RecordsOfAllStepsAreThereBeforeTheCheckpoint) {
  const std::vector<std::string> flags = {"--strategy=ring",
                                          "--checkpoint_dir=" + folder() + "/asked/checkpoints"};
  std::vector<std::string> first = flags;
  first.push_back("--steps=8000");
  const auto job = TestProcess::Start(Launch("asked", first));
  const std::string log = folder() + "/asked/steps/worker-0.jsonl";
  ASSERT_TRUE(AwaitCondition([&] { return std::filesystem::exists(log); }, absl::Seconds(60)));
  job->Signal(SIGUSR1);
  ASSERT_TRUE(AwaitCondition([&] { return !Checkpoints("asked").empty(); }, absl::Seconds(60)))
      << job->output();
  // Nobody has time for anything any more.
  for (const char* rank : {"--rank=0", "--rank=1"}) {
    const pid_t worker = FindChild(job->pid(), "worker", rank);
    if (worker > 0) kill(worker, SIGKILL);
  }
  job->Wait(absl::Minutes(1));
  EXPECT_TRUE(AwaitNoProcessMatching(folder(), absl::Seconds(20)).empty());
  const int64_t saved = NewestCheckpoint("asked");
  ASSERT_GT(saved, 0);
  for (int rank : {0, 1}) {
    EXPECT_GE(static_cast<int64_t>(StepsWritten("asked", rank).size()), saved) << rank;
  }
  std::vector<std::string> rest = flags;
  rest.insert(rest.end(), {absl::StrCat("--steps=", saved + 20), "--resume=latest"});
  Train("asked", rest);
  ExpectAllSteps("asked", saved + 20);
}

TEST_F(CheckpointTest, AFolderAloneIsEnoughToSaveAtTheEnd) {
  for (const char* strategy : {"--strategy=ring", "--strategy=ps"}) {
    const std::string name = strategy + 11;
    std::vector<std::string> flags = {strategy,
                                      "--checkpoint_dir=" + folder() + "/" + name + "/checkpoints"};
    std::vector<std::string> first = flags;
    first.push_back("--steps=20000");
    const auto job = TestProcess::Start(Launch(name, first));
    const auto trained = [&](int64_t more) {
      const int64_t before = LinesWritten(name, 0);
      return AwaitCondition([&] { return LinesWritten(name, 0) >= before + more; },
                            absl::Seconds(60));
    };
    ASSERT_TRUE(trained(1)) << job->output();
    // As a cluster's scheduler does it: everybody is told, servers first. They go on.
    const pid_t shard = FindChild(job->pid(), "ps_server", "--shard=0");
    if (shard > 0) {
      kill(shard, SIGTERM);
      ASSERT_TRUE(trained(100)) << job->output();
    }
    job->Signal(SIGTERM);
    const TestProcess::Ended ended = job->Wait(absl::Minutes(1));
    ASSERT_EQ(ended.status, 128 + SIGTERM) << ended.output;
    const int64_t saved = NewestCheckpoint(name);
    ASSERT_GT(saved, 0) << ended.output;
    flags.insert(flags.end(), {absl::StrCat("--steps=", saved + 20), "--resume=latest"});
    const RunResult rest = Train(name, flags);
    ExpectAllSteps(name, saved + 20);
    ExpectSameState(
        Train(name + "-whole", {"--strategy=local", absl::StrCat("--steps=", saved + 20)}), rest);
  }
}

TEST_F(CheckpointTest, ATornOneIsRefusedAndTheOneBeforeItOffered) {
  Train("a", {"--strategy=local", "--steps=20", "--checkpoint_steps=10"});
  std::filesystem::resize_file(PathOf("a", 20), 1000);
  const std::vector<std::string> more = {"--strategy=ring", "--steps=30", "--resume=latest",
                                         "--checkpoint_steps=10", "--overwrite"};
  const TestProcess::Ended torn = RunProcess(Launch("a", more), absl::Minutes(1));
  EXPECT_EQ(torn.status, 2);
  EXPECT_THAT(torn.output, HasSubstr("--resume=" + PathOf("a", 20) + ": torn"));
  EXPECT_THAT(torn.output, HasSubstr("--resume=" + PathOf("a", 10)));
  EXPECT_EQ(StepsWritten("a", 0).size(), 20u);

  std::vector<std::string> foreign = more;
  foreign.insert(foreign.end(), {"--resume=" + PathOf("a", 10), "--seed=9"});
  const TestProcess::Ended refused = RunProcess(Launch("a", foreign), absl::Minutes(1));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.output, HasSubstr("its seed is \"1\", that of this job \"9\""));
  EXPECT_TRUE(std::filesystem::exists(PathOf("a", 10)));
  // Without --resume the folder is taken.
  const TestProcess::Ended taken =
      RunProcess(Launch("a", {"--strategy=local", "--steps=20"}), absl::Minutes(1));
  EXPECT_EQ(taken.status, 2);
}

// Reads the file as its specification says, as torch tensors.
constexpr char kReader[] = R"(
import hashlib, json, struct, sys
import torch
data = open(sys.argv[1], 'rb').read()
length, = struct.unpack('<Q', data[:8])
header = json.loads(data[8:8 + length])
body = bytearray(data[8 + length:])
digest = hashlib.sha256()
for name, entry in header.items():
    if name == '__metadata__': continue
    begin, end = entry['data_offsets']
    assert entry['dtype'] == 'F32'
    tensor = torch.frombuffer(body, dtype=torch.float32, count=(end - begin) // 4, offset=begin)
    tensor = tensor.reshape(entry['shape'])
    digest.update(tensor.contiguous().numpy().tobytes())
    print(name, list(tensor.shape))
print('sha256', digest.hexdigest())
)";

TEST_F(CheckpointTest, PythonReadsTheExportedModel) {
  constexpr char kPython[] = "/usr/bin/python3";
  TestProcess::Config probe;
  probe.argv = {kPython, "-c", "import torch"};
  if (!std::filesystem::exists(kPython) || RunProcess(probe, absl::Minutes(1)).status != 0) {
    GTEST_SKIP() << kPython << " cannot import torch; python3-torch brings it";
  }
  const RunResult run = Train("a", {"--strategy=local", "--steps=10", "--checkpoint_steps=10"});
  const std::string model = folder() + "/model.safetensors";
  const TestProcess::Ended exported = RunProcess(
      Command("ringside", {"export", "--checkpoint=" + PathOf("a", 10), "--out=" + model}),
      absl::Minutes(1));
  ASSERT_EQ(exported.status, 0) << exported.output;
  EXPECT_THAT(exported.output, HasSubstr("tensors of step 10"));
  TestProcess::Config reader;
  reader.argv = {kPython, "-c", kReader, model};
  const TestProcess::Ended read = RunProcess(reader, absl::Minutes(1));
  ASSERT_EQ(read.status, 0) << read.output;
  EXPECT_THAT(read.output, HasSubstr("sha256 " + run.parameters_sha256()));
  EXPECT_THAT(read.output, HasSubstr("[16, 784]"));

  const TestProcess::Ended refused = RunProcess(
      Command("ringside", {"export", "--checkpoint=" + model, "--out=" + model}), absl::Minutes(1));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.output, HasSubstr("not a checkpoint"));
}

}  // namespace
}  // namespace ringside
