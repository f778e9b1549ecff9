// A shard that is told to end (SIGTERM) in the middle of training: it leaves a snapshot of the last
// step that it closed, and a replacement goes on from there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "absl/base/internal/endian.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/bucket_plan.h"
#include "common/sha256.h"
#include "common/unit_table.h"
#include "ps_server/snapshot_file.h"
#include "ps_server/snapshot_store.h"
#include "snapshot.pb.h"
#include "tests/integration/job.h"
#include "tests/integration/scripted_job.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

constexpr int kTerminated = 128 + SIGTERM;
constexpr int64_t kSteps = 400;
constexpr int64_t kHeld = 20;  // the step in which the shard is told to end
constexpr int64_t kSnapshotSteps = 8;
const ScriptedModel kModel = {6, 240};

// Whose the snapshot says it is; everything else of it is checked by ReadSnapshotFile.
SnapshotIdentity ClaimedIdentity(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  constexpr size_t kPrefix = 16;  // magic, version, length of the header
  SnapshotHeader header;
  EXPECT_GT(bytes.size(), kPrefix) << path;
  if (bytes.size() <= kPrefix) return {};
  const size_t length = absl::little_endian::Load32(bytes.data() + kPrefix - 4);
  EXPECT_TRUE(header.ParseFromString(bytes.substr(kPrefix, length))) << path;
  return {header.job(), header.shard(), header.num_shards(), header.plan_sha256(),
          header.settings_sha256()};
}

// A process has taken a signal off its queue.
bool AwaitTaken(pid_t pid, int signal) {
  return AwaitCondition(
      [&] {
        std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
        std::string word;
        while (status >> word) {
          uint64_t pending = 0;
          if (word == "ShdPnd:" && status >> std::hex >> pending)
            return (pending >> (signal - 1) & 1) == 0;
        }
        return true;  // it has ended
      },
      kSoon);
}

struct Mode {
  std::string name;
  std::vector<std::string> flags;
};

void PrintTo(const Mode& mode, std::ostream* out) { *out << mode.name; }

class ShardTerminationTest : public JobTest, public ::testing::WithParamInterface<Mode> {
 protected:
  std::string snapshots() const { return folder() + "/snapshots"; }

  void StartJob() {
    ScriptedJob::Config config;
    config.model = kModel;
    config.scripts.assign(3, absl::StrCat(kHeld, ":0:hold"));
    config.restart_shards = 1;
    config.flags = GetParam().flags;
    config.flags.insert(config.flags.end(), {absl::StrCat("--steps=", kSteps),
                                             absl::StrCat("--snapshot_steps=", kSnapshotSteps),
                                             "--snapshot_dir=" + snapshots()});
    job_ = std::make_unique<ScriptedJob>(std::move(config));
    for (int rank = 0; rank < job_->workers(); ++rank)
      ASSERT_TRUE(job_->AwaitHalt(rank, kHeld, 0)) << job_->Outputs();
  }

  // While a step is open, so that one is closed soon after.
  void Terminate() {
    job_->shard(0).Signal(SIGTERM);
    ASSERT_TRUE(AwaitTaken(job_->shard(0).pid(), SIGTERM));
    job_->Resume({0, 1, 2});
    const TestProcess::Ended ended = job_->shard(0).Wait(kSoon);
    EXPECT_EQ(ended.status, kTerminated) << ended.output;
  }

  // The newest one, checked; whose step is -1 if there is none that is right.
  ShardSnapshot ReadNewest() {
    std::string newest;
    for (const auto& entry : std::filesystem::directory_iterator(snapshots()))
      newest = std::max(newest, entry.path().string());  // steps have leading zeros
    const SnapshotIdentity identity = ClaimedIdentity(newest);
    EXPECT_EQ(identity.job, Sha256Hex(absl::string_view("")));
    EXPECT_EQ(identity.shard, 0);
    EXPECT_EQ(identity.num_shards, 1);
    plan_ = std::make_unique<BucketPlan>(BucketPlan::Create(kModel.Parameters(), 4, 4).value());
    EXPECT_EQ(identity.plan_hash, plan_->hash());
    const auto store = SnapshotStore::Create({snapshots(), identity});
    EXPECT_TRUE(store.ok()) << store.status();
    const auto read = ReadSnapshotFile(newest, identity);
    EXPECT_TRUE(read.ok()) << read.status();
    if (!store.ok() || !read.ok()) return {};
    EXPECT_THAT(store->List(), ::testing::SizeIs(2));
    EXPECT_EQ(store->List().front(), read->step);
    EXPECT_EQ(store->PathOf(read->step), newest);
    return *read;
  }

  // The last step that the shard has closed is one that a worker has finished or, where its answer
  // is lost, the one after. In asynchronous modes it is the slowest worker that counts.
  void ExpectNewestClosed(int64_t step) {
    const bool slowest = GetParam().name == "Async" || GetParam().name == "Ssp";
    const auto finished = [&] {
      std::vector<int64_t> steps;
      for (int rank = 0; rank < job_->workers(); ++rank) steps.push_back(job_->StepsFinished(rank));
      return slowest ? *std::min_element(steps.begin(), steps.end())
                     : *std::max_element(steps.begin(), steps.end());
    };
    EXPECT_GE(step, kHeld);
    // What workers say before they push a step may be read here later.
    EXPECT_TRUE(AwaitCondition([&] { return finished() >= step - 1; }, kSoon)) << job_->Outputs();
    EXPECT_LE(finished(), step) << job_->Outputs();
  }

  std::unique_ptr<ScriptedJob> job_;
  std::unique_ptr<BucketPlan> plan_;
};

TEST_P(ShardTerminationTest, LeavesASnapshotThatTheJobGoesOnFrom) {
  ASSERT_NO_FATAL_FAILURE(StartJob());
  ASSERT_NO_FATAL_FAILURE(Terminate());
  const ShardSnapshot snapshot = ReadNewest();
  const auto step = static_cast<int64_t>(snapshot.step);
  ExpectNewestClosed(step);
  const bool synchronous = GetParam().name == "Sync";
  if (synchronous) {
    const std::vector<float> right = ScriptedParameters(kModel.elements(), step, 3, 0.5);
    const UnitTable table(*plan_, {3, 1}, 0);
    ASSERT_EQ(snapshot.parameters.size(), right.size());
    for (int i = 0; i < table.size(); ++i) {
      const UnitTable::Unit& unit = table.unit(i);
      const int64_t begin = plan_->bucket(unit.bucket).begin + unit.range.begin;
      for (int64_t k = 0; k < unit.range.length; ++k)
        ASSERT_EQ(snapshot.parameters[unit.position + k], right[begin + k]) << begin + k;
    }
  }

  job_->RestartShard(0);
  std::vector<std::string> ends;
  for (int rank = 0; rank < job_->workers(); ++rank) {
    const TestProcess::Ended ended = job_->worker(rank).Wait(kSoon);
    ASSERT_EQ(ended.status, 0) << job_->Outputs();
    const size_t at = ended.output.find("parameters ");
    ASSERT_NE(at, std::string::npos) << ended.output;
    ends.push_back(ended.output.substr(at, ended.output.find('\n', at) - at));
    EXPECT_EQ(ends.back(), ends.front());
  }
  const TestProcess::Ended shard = job_->shard(0).Wait(kSoon);
  EXPECT_EQ(shard.status, 0) << shard.output;
  EXPECT_THAT(shard.output, HasSubstr(absl::StrCat("goes on after step ", step, ", from ")));
  if (synchronous) {
    EXPECT_EQ(ends.front(), "parameters " + job_->ExpectedHash(kSteps, 0.5));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, ShardTerminationTest,
    ::testing::Values(Mode{"Sync", {"--update=server"}}, Mode{"Async", {"--ps_mode=async"}},
                      Mode{"Ssp", {"--ps_mode=ssp", "--staleness=2"}},
                      Mode{"Backup", {"--ps_mode=backup", "--backup_workers=1"}}),
    [](const ::testing::TestParamInfo<Mode>& info) { return info.param.name; });

// The same under the launcher, which starts the shard again by itself. The other shard has no
// snapshot of that step: they go back to the newest that both have.
class LaunchedJobTest : public JobTest {
 protected:
  // `ringside` takes the others from its own folder, and shall take the scripted worker.
  void SetUp() override {
    std::filesystem::create_directory(bin());
    std::filesystem::copy(Binary("ringside"), bin());
    std::filesystem::copy(Binary("ps_server"), bin());
    std::filesystem::copy(RINGSIDE_SCRIPTED_WORKER, bin() + "/worker");
  }

  std::string bin() const { return folder() + "/bin"; }
  std::string out() const { return folder() + "/out"; }

  std::unique_ptr<TestProcess> Launch() const {
    TestProcess::Config config;
    config.argv = {bin() + "/ringside",
                   "run",
                   "--strategy=ps",
                   "--workers=2",
                   "--ps_shards=2",
                   "--first_bucket_bytes=4",
                   "--bucket_bytes=4",
                   "--batch_size=1",
                   "--learning_rate=0.5",
                   "--update=server",
                   "--restart_shards=1",
                   absl::StrCat("--steps=", kSteps),
                   absl::StrCat("--snapshot_steps=", kSnapshotSteps),
                   "--out=" + out()};
    config.environment = {
        {"SCRIPT", absl::StrCat(kHeld, ":0:hold")},
        {"SCRIPT_MODEL", absl::StrCat(kModel.parameters, "x", kModel.elements_each)}};
    return TestProcess::Start(config);
  }

  std::string Log(const std::string& name) const {
    std::ifstream file(out() + "/logs/" + name + ".log");
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }

  pid_t Find(const TestProcess& job, const std::string& flag) const {
    for (const ProcessEntry& entry : DescendantsOf(job.pid()))
      if (absl::StrContains(entry.command_line, flag)) return entry.pid;
    return -1;
  }
};

TEST_F(LaunchedJobTest, GoesOnByItself) {
  const std::unique_ptr<TestProcess> job = Launch();
  for (const char* worker : {"worker-0", "worker-1"}) {
    ASSERT_TRUE(AwaitCondition(
        [&] { return absl::StrContains(Log(worker), absl::StrCat("step ", kHeld, ", 0 buckets")); },
        kSoon))
        << job->output() << Log(worker);
  }
  const pid_t victim = Find(*job, "--shard=1");
  ASSERT_GT(victim, 0);
  ASSERT_EQ(kill(victim, SIGTERM), 0);
  ASSERT_TRUE(AwaitTaken(victim, SIGTERM));
  for (const char* rank : {"--rank=0", "--rank=1"}) {
    const pid_t worker = Find(*job, rank);
    ASSERT_GT(worker, 0);
    ASSERT_EQ(kill(worker, SIGUSR1), 0);
  }
  const TestProcess::Ended ended = job->Wait(kSoon);
  ASSERT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, ::testing::ContainsRegex(absl::StrCat("shard 1 .*", kTerminated)));
  EXPECT_THAT(Log("shard-0"), ::testing::ContainsRegex("goes on after step [1-9][0-9]*, from "));
  EXPECT_THAT(Log("shard-1.restart-1"),
              ::testing::ContainsRegex("goes on after step [1-9][0-9]*, from "));
  const std::vector<float> right = ScriptedParameters(kModel.elements(), kSteps, 2, 0.5);
  const std::string hash = Sha256Hex(absl::Span<const float>(right));
  for (const char* worker : {"worker-0", "worker-1"})
    EXPECT_THAT(Log(worker), HasSubstr("parameters " + hash));
}

}  // namespace
}  // namespace ringside
