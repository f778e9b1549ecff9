#include "tests/integration/scripted_job.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/sha256.h"
#include "tests/testing/http_get.h"

namespace ringside {
namespace {

// The number that follows the last `marker`; -1: there is none.
int64_t LastNumberAfter(const std::string& text, const std::string& marker) {
  const size_t at = text.rfind(marker);
  if (at == std::string::npos) return -1;
  const size_t begin = at + marker.size();
  int64_t number = -1;
  const bool read = absl::SimpleAtoi(
      text.substr(begin, text.find_first_not_of("0123456789", begin) - begin), &number);
  return read ? number : -1;
}

}  // namespace

ScriptedJob::ScriptedJob(Config config) : config_(std::move(config)) {
  CoordinatorServer::Config coordinator;
  coordinator.bind = {"127.0.0.1", "127.0.0.1", {}};
  coordinator.lease = config_.lease;
  coordinator.restart_shards = config_.restart_shards;
  auto started = CoordinatorServer::Start(std::move(coordinator));
  RINGSIDE_CHECK(started.ok());
  coordinator_ = std::move(started).value();
  for (int number = 0; number < config_.shards; ++number) shards_.push_back(StartShard(number));
  for (size_t rank = 0; rank < config_.scripts.size(); ++rank)
    workers_.push_back(StartWorker(static_cast<int>(rank)));
}

std::vector<std::string> ScriptedJob::Flags() const {
  std::vector<std::string> flags = {
      "--strategy=ps",
      absl::StrCat("--coordinator=", ToString(coordinator_->endpoint())),
      absl::StrCat("--workers=", config_.scripts.size()),
      absl::StrCat("--ps_shards=", config_.shards),
      // A bucket is closed by one parameter.
      "--first_bucket_bytes=4",
      "--bucket_bytes=4",
      "--batch_size=1",
      "--learning_rate=0.5",
      "--step_timeout=120s",
  };
  flags.insert(flags.end(), config_.flags.begin(), config_.flags.end());
  return flags;
}

std::unique_ptr<TestProcess> ScriptedJob::StartShard(int number) const {
  TestProcess::Config shard;
  shard.argv = {RINGSIDE_PS_SERVER, absl::StrCat("--shard=", number), "--metrics_port=0"};
  for (const std::string& flag : Flags()) shard.argv.push_back(flag);
  return TestProcess::Start(shard);
}

std::unique_ptr<TestProcess> ScriptedJob::StartWorker(int rank) const {
  TestProcess::Config worker;
  worker.argv = {RINGSIDE_SCRIPTED_WORKER, absl::StrCat("--rank=", rank)};
  for (const std::string& flag : Flags()) worker.argv.push_back(flag);
  worker.environment = {
      {"SCRIPT", config_.scripts[rank]},
      {"SCRIPT_MODEL", absl::StrCat(config_.model.parameters, "x", config_.model.elements_each)}};
  return TestProcess::Start(worker);
}

void ScriptedJob::RestartShard(int number) { shards_[number] = StartShard(number); }

bool ScriptedJob::AwaitHalt(int rank, int64_t step, int buckets) {
  return worker(rank).WaitForOutput(
      absl::StrCat("step ", step, ", ", buckets, " buckets: .* in all\n"), kSoon);
}

bool ScriptedJob::AwaitFinished(int rank, int64_t step) {
  return worker(rank).WaitForOutput(absl::StrCat("finished step ", step, "\n"), kSoon);
}

bool ScriptedJob::AwaitStopped(int rank) const {
  const pid_t pid = workers_[rank]->pid();
  return AwaitCondition(
      [pid] {
        for (const ProcessEntry& entry : DescendantsOf(getpid()))
          if (entry.pid == pid) return entry.state == 'T';
        return false;
      },
      kSoon);
}

int64_t ScriptedJob::UnitsSubmitted(int rank) const {
  return LastNumberAfter(workers_[rank]->output(), "units submitted, ");
}

int64_t ScriptedJob::StepsFinished(int rank) const {
  return std::max<int64_t>(LastNumberAfter(workers_[rank]->output(), "finished step "), 0);
}

bool ScriptedJob::AwaitReported(int rank, int64_t step) const {
  return AwaitCondition(
      [&] {
        const std::vector<CoordinatorServer::MemberState> members = coordinator_->Members();
        return !members.empty() && members[rank].progress.step() >= step;
      },
      kSoon);
}

int64_t ScriptedJob::FramesReceived() const {
  int64_t sum = 0;
  for (size_t number = 0; number < shards_.size(); ++number) {
    const int64_t port = LastNumberAfter(shards_[number]->output(), "metrics at http://127.0.0.1:");
    sum += LastNumberAfter(HttpGet(static_cast<int>(port), "/metrics"),
                           absl::StrCat("\nringside_ps_messages_total{shard=\"", number,
                                        "\",direction=\"in\",kind=\"counted\"} "));
  }
  return sum;
}

void ScriptedJob::Resume(const std::vector<int>& ranks) const {
  for (int rank : ranks) workers_[rank]->Signal(SIGUSR1);
}

std::string ScriptedJob::ExpectedHash(int64_t steps, float rate) const {
  const std::vector<float> expected =
      ScriptedParameters(config_.model.elements(), steps, workers(), rate);
  return Sha256Hex(absl::Span<const float>(expected));
}

std::string ScriptedJob::Outputs() const {
  std::string text;
  for (size_t i = 0; i < workers_.size(); ++i)
    absl::StrAppend(&text, "worker ", i, ":\n", workers_[i]->output());
  for (size_t i = 0; i < shards_.size(); ++i)
    absl::StrAppend(&text, "shard ", i, ":\n", shards_[i]->output());
  return text;
}

}  // namespace ringside
