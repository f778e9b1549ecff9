#include "worker/run_result.h"

#include <google/protobuf/util/json_util.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/logging.h"
#include "worker/wait_for_slowest.h"

namespace ringside {
namespace {

constexpr int kSchemaVersion = 1;

void FillSettings(const JobConfig& job, RunResult* result) {
  for (const std::string& flag : job.ToFlags()) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(absl::StripPrefix(flag, "--"), absl::MaxSplits('=', 1));
    (*result->mutable_settings())[parts.first] = parts.second;
  }
  result->set_strategy(job.strategy);
  result->set_workers(job.workers);
  result->set_shards(job.shards());
  result->set_batch_size(job.batch_size);
  result->set_global_batch_size(job.global_batch_size());
  result->set_effective_learning_rate(job.scaled_optimizer().learning_rate);
  result->set_trial(job.trial);
}

// A ring that moved its chunks by the direct schedule is no ring, whatever was asked for. One
// worker moves nothing by either, so that its run belongs to the series that was asked for. And a
// parameter server is called by its mode.
void NameWhatRan(const JobConfig& job, RunResult* result) {
  if (job.uses_servers()) result->set_strategy(StrategyName(job.ps_policy()));
  if (job.strategy != "ring" || result->worker_results().empty()) return;
  const auto& facts = result->worker_results(0).process().facts();
  const auto found = facts.find("schedule");
  const std::string ran = found == facts.end() ? "" : found->second;
  if (ran == "direct" || (job.workers == 1 && job.schedule == "direct"))
    result->set_strategy("direct");
}

std::string CommonHash(const RunResult& result) {
  std::string hash;
  for (const WorkerResult& worker : result.worker_results()) {
    if (!hash.empty() && worker.parameters_sha256() != hash) return "";
    hash = worker.parameters_sha256();
  }
  return hash;
}

}  // namespace

absl::StatusOr<RunResult> AssembleRunResult(const RunResultParts& parts) {
  RunResult result;
  result.set_schema_version(kSchemaVersion);
  FillSettings(parts.job, &result);
  result.set_total_steps(parts.total_steps);
  result.set_parameter_elements(parts.parameter_elements);
  for (int64_t elements : parts.bucket_elements) result.add_bucket_elements(elements);
  result.set_resumed_from_step(parts.resumed_from_step);
  const int64_t warm = parts.resumed_from_step + parts.job.warmup_steps;
  result.set_warmup_steps(warm < parts.total_steps ? warm : 0);
  for (size_t rank = 0; rank < parts.worker_blobs.size(); ++rank) {
    if (!result.add_worker_results()->ParseFromString(parts.worker_blobs[rank])) {
      return absl::InternalError(absl::StrCat("the results of worker ", rank, " cannot be read"));
    }
  }
  for (size_t shard = 0; shard < parts.shard_blobs.size(); ++shard) {
    if (!result.add_shard_results()->ParseFromString(parts.shard_blobs[shard])) {
      return absl::InternalError(absl::StrCat("the results of shard ", shard, " cannot be read"));
    }
  }
  NameWhatRan(parts.job, &result);
  result.set_parameters_sha256(CommonHash(result));
  if (result.worker_results_size() > 0) {
    const WorkerResult& first = result.worker_results(0);
    if (first.has_evaluation()) *result.mutable_evaluation() = first.evaluation();
    int64_t skipped = 0;
    for (const StepRecord& record : first.steps()) skipped += record.skipped();
    result.set_skipped_steps(skipped);
  }
  if (!parts.job.uses_servers() || !parts.job.ps_policy().is_asynchronous()) {
    FillWaitForSlowest(parts.job.backup_workers, &result);
  }
  *result.mutable_provenance() = parts.provenance;
  result.mutable_command()->Assign(parts.command.begin(), parts.command.end());
  return result;
}

void LogRunResult(const RunResult& result) {
  LogInfo(absl::StrFormat("%d steps in %.1f s, parameters %s", result.total_steps(),
                          result.worker_results(0).train_s(), result.parameters_sha256()));
  if (result.has_evaluation()) {
    LogInfo(absl::StrFormat("test accuracy %.2f %% (%d of %d)",
                            100 * result.evaluation().accuracy(), result.evaluation().correct(),
                            result.evaluation().labels()));
    if (result.evaluation().perplexity() > 0) {
      LogInfo(absl::StrFormat("test perplexity %.4g", result.evaluation().perplexity()));
    }
    if (result.evaluation().mean_iou() > 0) {
      LogInfo(absl::StrFormat("test mean IoU %.2f %%", 100 * result.evaluation().mean_iou()));
    }
  }
}

absl::Status WriteRunResult(const RunResult& result, const std::string& out) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  options.add_whitespace = true;
  std::string json;
  const auto converted = google::protobuf::util::MessageToJsonString(result, &json, options);
  if (!converted.ok()) {
    return absl::InternalError(
        absl::StrCat("results cannot be written as JSON: ", std::string(converted.message())));
  }
  const std::string path = absl::StrCat(out, "/results.json");
  const std::string partial = absl::StrCat(path, ".partial");
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  file << json;
  file.close();
  if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
    const std::string reason = strerror(errno);
    std::remove(partial.c_str());
    return absl::DataLossError(absl::StrCat("cannot write ", path, ": ", reason));
  }
  return absl::OkStatus();
}

}  // namespace ringside
