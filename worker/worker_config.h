// What one worker process is to do: the job, its place in it, and how it reaches the others.
#ifndef RINGSIDE_WORKER_WORKER_CONFIG_H_
#define RINGSIDE_WORKER_WORKER_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "common/config/job_config.h"
#include "common/config/job_flags.h"
#include "common/launch/launch_identity.h"
#include "common/network/bind_address.h"
#include "common/network/endpoint.h"

namespace ringside {

struct WorkerConfig {
  JobConfig job;                   // validated; `workers` is the world size, whoever told it
  int rank = 0;                    // 0 where one process plays all
  absl::optional<int> local_rank;  // among the processes of this host, where the launcher tells
  NetworkOptions network;
  absl::optional<Endpoint> coordinator;  // unset: this process is the whole job
  bool host_coordinator = false;         // in this process
  std::string token;
  std::vector<std::string> command;  // argv, with the token hidden

  // Ranks that this process plays, ascending.
  std::vector<int> hosted_ranks() const;
};

// Pure. Without a rank flag the launcher's environment says the rank. `local` and
// `data_parallel` are one process, which needs no coordinator and no launcher. INVALID_ARGUMENT and
// FAILED_PRECONDITION: the job does not validate, a bad coordinator address, no coordinator, no
// rank, or more than one process where one plays all ranks.
absl::StatusOr<WorkerConfig> MakeWorkerConfig(const JobConfig& job, const ProcessConfig& process,
                                              const Environment& environment,
                                              const std::vector<std::string>& arguments);

// What a step is made with, in one line: "learning rate 0.2 (0.05, linear in 4 workers), batch 32 a
// rank, 128 in all".
std::string DescribeRate(const JobConfig& job);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_WORKER_CONFIG_H_
