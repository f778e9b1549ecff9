// Puts together what a job leaves: results.json, written by rank 0.
#ifndef RINGSIDE_WORKER_RUN_RESULT_H_
#define RINGSIDE_WORKER_RUN_RESULT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/config/job_config.h"
#include "results.pb.h"

namespace ringside {

struct RunResultParts {
  JobConfig job;
  std::vector<std::string> worker_blobs;  // serialized WorkerResults, by rank
  std::vector<std::string> shard_blobs;   // serialized ShardResults, by shard
  int64_t total_steps = 0;
  int64_t resumed_from_step = 0;  // 0: none was another run's
  int64_t parameter_elements = 0;
  std::vector<int64_t> bucket_elements;  // of the plan
  Provenance provenance;
  std::vector<std::string> command;
};

// The strategy is the job's, but "direct" for a ring whose workers report the direct schedule (fact
// "schedule"), or for one worker that was asked for it, and for a parameter server StrategyName of
// its policy ("ps async"); the settings keep what was asked for. The
// warm-up is the job's, from where it began, but none for a job that is not longer than it. The
// hash is empty when ranks disagree. INTERNAL: a blob cannot be read; names whose.
absl::StatusOr<RunResult> AssembleRunResult(const RunResultParts& parts);

// Tells people what came of the run, a few lines. The run has a worker.
void LogRunResult(const RunResult& result);

// Writes <out>/results.json as protobuf's JSON with the field names of results.proto: first under
// another name, so that the file is there whole or not at all. DATA_LOSS: it cannot be written;
// names the path and what the system says.
absl::Status WriteRunResult(const RunResult& result, const std::string& out);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_RUN_RESULT_H_
