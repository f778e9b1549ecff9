// Stands in for `worker` and `ps_server` in launcher_test: a real member of the job that trains
// nothing, so that the test needs no LibTorch and takes milliseconds. What goes wrong, and for
// whom, comes from the environment:
//   FAKE_WORKER_1=refuse   ends with bad input before it joins
//   FAKE_WORKER_1=kill     is killed by SIGKILL after all have joined
//   FAKE_SHARD_0=kill_once the same, but whoever takes its place is well
//   FAKE_WORKER_1=fail     reports a failure of its own and ends with what comes of it
//   FAKE_WORKER_1=hang     never ends, and ignores SIGTERM and SIGINT
//   FAKE_WORKER_1=stop     stops itself with SIGSTOP
//   FAKE_SHARD_0=stop_once the same, but whoever takes its place is well
//   FAKE_SHARD_0=stay      leaves in good order and then runs on
#include <google/protobuf/util/json_util.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/config/job_flags.h"
#include "common/coordinator/coordinator_client.h"
#include "common/launch/launch_identity.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "results.pb.h"

namespace ringside {
namespace {

[[noreturn]] void RunOn() {
  while (true) pause();
}

absl::StatusOr<std::unique_ptr<CoordinatorClient>> Join(const CommandLine& line,
                                                        const MemberId& self, const JobConfig& job,
                                                        const Environment& environment) {
  const ProcessConfig process = ProcessConfigFromFlags(line, environment);
  CoordinatorClient::Config config;
  RINGSIDE_ASSIGN_OR_RETURN(config.coordinator, ParseEndpoint(process.coordinator));
  config.join_timeout = job.join_timeout;
  JoinRequest request;
  *request.mutable_member()->mutable_id() = self;
  request.mutable_member()->set_pid(getpid());
  request.set_token(process.token);
  request.set_world_size(job.worker_processes());
  request.set_num_shards(line.Has("shard") ? job.ps_shards : job.shards());
  return CoordinatorClient::Join(config, request);
}

absl::Status Misbehave(const std::string& how, const MemberId& self, CoordinatorClient* client) {
  const bool first = client->membership().recovery() == 0;
  if (how == "kill" || (how == "kill_once" && first)) raise(SIGKILL);
  if (how == "stop" || (how == "stop_once" && first)) raise(SIGSTOP);
  if (how == "hang") {
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    LogInfo("hangs");
    RunOn();
  }
  if (how == "fail") {
    return client->ResolveFailure(
        absl::InvalidArgumentError(absl::StrCat(ToString(self), ": the data are bad")), 1);
  }
  return absl::OkStatus();
}

absl::Status WriteResult(const JobConfig& job) {
  RunResult result;
  result.set_strategy(job.strategy);
  result.set_workers(job.workers);
  std::string json;
  const auto converted = google::protobuf::util::MessageToJsonString(result, &json);
  std::ofstream(absl::StrCat(job.out, "/results.json")) << json;
  return converted.ok() ? absl::OkStatus() : absl::InternalError("no JSON");
}

absl::Status Run(const CommandLine& line, const Environment& environment) {
  RINGSIDE_ASSIGN_OR_RETURN(const JobConfig job, JobConfigFromFlags());
  const int number = *ProcessConfigFromFlags(line, environment).rank;
  const MemberId self = line.Has("shard") ? ShardId(number) : WorkerId(number);
  SetLogName(ToString(self));
  const auto entry =
      environment.find(absl::StrCat(line.Has("shard") ? "FAKE_SHARD_" : "FAKE_WORKER_", number));
  const std::string how = entry == environment.end() ? "" : entry->second;
  if (how == "refuse") return absl::InvalidArgumentError("--data_dir=nowhere: no such folder");
  RINGSIDE_ASSIGN_OR_RETURN(const std::unique_ptr<CoordinatorClient> client,
                            Join(line, self, job, environment));
  Progress progress;
  progress.set_step(1);
  progress.set_total_steps(2);
  client->ReportProgress(progress);
  RINGSIDE_RETURN_IF_ERROR(Misbehave(how, self, client.get()));
  const auto everyone = EveryoneOf(client->membership());
  const absl::Status met = client->Barrier("end", everyone, absl::Seconds(60));
  if (!met.ok()) return client->ResolveFailure(met, 1);
  if (self.role() == ROLE_WORKER && number == 0) RINGSIDE_RETURN_IF_ERROR(WriteResult(job));
  RINGSIDE_RETURN_IF_ERROR(client->Leave());
  if (how == "stay") RunOn();
  return absl::OkStatus();
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  ringside::SetLogName("fake");
  const auto line = ringside::ParseFlags(argc, argv);
  if (!line.ok()) return ringside::ExitStatus(line.status());
  return ringside::ExitStatus(ringside::Run(*line, ringside::ReadEnvironment()));
}
