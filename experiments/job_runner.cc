#include "experiments/job_runner.h"

#include <google/protobuf/util/json_util.h>
#include <stdio.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/config/job_flags.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "experiments/network/job_network.h"
#include "experiments/report/text_file.h"
#include "experiments/signal_wait.h"

namespace ringside {
namespace {

FinishedJob Failed(const absl::Status& status, int launcher_status) {
  FinishedJob finished;
  finished.outcome.launcher_status = launcher_status;
  finished.outcome.error = std::string(status.message());
  return finished;
}

absl::Status RefuseAddresses(const NetworkOptions& network, const JobConfig& job) {
  for (const auto& [flag, value] :
       {std::pair("interface", &network.interface), std::pair("listen", &network.listen),
        std::pair("advertise", &network.advertise)}) {
    if (value->empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", *value,
                                                   ": must be empty with --network=", job.network,
                                                   ", whose hosts have addresses of their own"));
  }
  return absl::OkStatus();
}

// Null where the job's network is not emulated.
absl::StatusOr<std::unique_ptr<JobNetwork>> MakeNetwork(const NetworkOptions& options,
                                                        const JobConfig& job) {
  if (job.network_hosts() > 0) RINGSIDE_RETURN_IF_ERROR(RefuseAddresses(options, job));
  return JobNetwork::Create(job, EndOfJobIsAsked);
}

void AddNetwork(const JobNetwork& network, RunResult* result) {
  *result->mutable_network() = network.report();
  if (network.refused_frames() == 0) return;
  LogWarning(absl::StrCat("the emulated network has lost ", network.refused_frames(),
                          " frames, which had to be sent again"));
}

absl::Status WriteResult(const RunResult& result, const std::string& out) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  options.add_whitespace = true;
  std::string json;
  const auto converted = google::protobuf::util::MessageToJsonString(result, &json, options);
  if (!converted.ok()) return absl::InternalError(std::string(converted.message()));
  return WriteTextFile(absl::StrCat(out, "/results.json"), json);
}

std::string LogFolder(const std::string& out) { return absl::StrCat(out, "/logs"); }

}  // namespace

FinishedJob RunJob(const CommandContext& context, const NetworkOptions& network,
                   const JobConfig& job, CeilingProbe* ceilings, const std::string& title,
                   LiveTitle live_title) {
  const absl::StatusOr<std::unique_ptr<JobNetwork>> emulated = MakeNetwork(network, job);
  if (!emulated.ok()) return Failed(emulated.status(), 2);
  Launcher::Config config;
  config.job = job;
  config.emulated = emulated->get();
  config.network = network;
  config.binary_dir = context.binary_dir;
  config.log_dir = LogFolder(job.out);
  config.title = title;
  config.live_title = std::move(live_title);
  config.environment = context.environment;
  config.terminal = StandardErrorIsTerminal();
  config.metrics_port =
      ProcessConfigFromFlags(context.command_line, context.environment).metrics_port;
  absl::StatusOr<std::unique_ptr<Launcher>> launcher = Launcher::Create(config);
  if (!launcher.ok()) return Failed(launcher.status(), 2);
  std::error_code error;
  std::filesystem::create_directories(config.log_dir, error);
  if (error) {
    return Failed(absl::PermissionDeniedError(absl::StrCat(config.log_dir, ": ", error.message())),
                  2);
  }
  const bool needs_ceilings = NeedsCeilings(job);
  if (needs_ceilings) ceilings->Get();  // while the machine has nothing else to do
  FinishedJob finished;
  finished.outcome = (*launcher)->Run();
  if (!finished.outcome.ok()) return finished;
  absl::StatusOr<RunResult> result = ReadRunResult(job.out);
  if (!result.ok()) {
    return Failed(absl::InternalError(
                      absl::StrCat("all processes ended well, but ", result.status().message())),
                  1);
  }
  // What only the launcher knows goes where the rest is.
  if (*emulated != nullptr) AddNetwork(**emulated, &*result);
  if (needs_ceilings) *result->mutable_ceilings() = ceilings->Get();
  if (*emulated != nullptr || needs_ceilings) {
    const absl::Status written = WriteResult(*result, job.out);
    if (!written.ok()) return Failed(written, 1);
  }
  result->mutable_command()->Assign(context.argv.begin(), context.argv.end());
  finished.result = *std::move(result);
  return finished;
}

void PrintFailure(const JobOutcome& outcome, const std::string& out) {
  LogError(outcome.error);
  // Bad input is said in that one line, and the logs are about to be removed.
  if (outcome.launcher_status == 2) return;
  for (const std::string& line : outcome.details) fprintf(stderr, "  %s\n", line.c_str());
  if (!outcome.details.empty()) fprintf(stderr, "  logs: %s\n", LogFolder(out).c_str());
}

absl::StatusOr<RunResult> ReadRunResult(const std::string& folder) {
  const std::string path = absl::StrCat(folder, "/results.json");
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, " is missing"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  RunResult result;
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, &result);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not the result of a job: ", std::string(parsed.message())));
  }
  return result;
}

}  // namespace ringside
