// Real jobs that stop and go on: the bits are those of one that never stopped, whatever the
// strategy before and after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/integration/job.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

class CheckpointTest : public JobTest {
 protected:
  CheckpointTest() { WriteMnistFiles(data_dir(), 64, 20); }

  std::vector<std::string> Flags(const std::vector<std::string>& more) const {
    std::vector<std::string> flags = {"--workers=2", "--batch_size=8", "--momentum=0.9",
                                      "--warmup_steps=0", "--lease=5s"};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  RunResult Train(const std::string& name, const std::vector<std::string>& more) const {
    return Run(name, Flags(more)).runs(0);
  }
  TestProcess::Config Launch(const std::string& name, const std::vector<std::string>& more) const {
    std::vector<std::string> flags = JobFlags(Flags(more));
    flags.insert(flags.begin(), "run");
    flags.push_back("--out=" + folder() + "/" + name);
    return Command("ringside", flags);
  }
  std::string PathOf(const std::string& name, int64_t step) const {
    return absl::StrFormat("%s/%s/checkpoints/step-%06d.ckpt", folder(), name, step);
  }
  std::vector<std::string> Checkpoints(const std::string& name) const {
    std::vector<std::string> paths;
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder() + "/" + name + "/checkpoints", error), end;
         !error && it != end; it.increment(error)) {
      if (it->path().extension() == ".ckpt") paths.push_back(it->path().string());
    }
    return paths;
  }
  std::vector<int64_t> StepsWritten(const std::string& name, int rank) const {
    std::ifstream file(absl::StrCat(folder(), "/", name, "/steps/worker-", rank, ".jsonl"));
    std::vector<int64_t> steps;
    for (std::string line; std::getline(file, line);) {
      StepRecord record;
      EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(line, &record).ok()) << line;
      steps.push_back(record.step());
    }
    return steps;
  }
};

void ExpectSameState(const RunResult& one, const RunResult& other) {
  EXPECT_FALSE(one.parameters_sha256().empty());
  EXPECT_EQ(one.parameters_sha256(), other.parameters_sha256());
  for (const WorkerResult& worker : other.worker_results()) {
    EXPECT_EQ(worker.optimizer_state_sha256(), one.worker_results(0).optimizer_state_sha256());
  }
}

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
    for (int rank : {0, 1}) {
      const std::vector<int64_t> steps = StepsWritten(name, rank);
      ASSERT_EQ(steps.size(), 3000u) << name << " " << rank;
      for (size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(steps[i], static_cast<int64_t>(i) + 1);
    }
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
