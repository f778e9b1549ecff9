// ps/LINK: the parameter server as it is, without training around it.
#ifndef RINGSIDE_WORKER_BENCH_SERVER_TASK_H_
#define RINGSIDE_WORKER_BENCH_SERVER_TASK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/bench/bench_plan.h"
#include "worker/bench/member_task.h"

namespace ringside {

// All members at once. In a worker one sample is the time from the first Submit until Finish has
// returned; a shard answers with the numbers that ShardMemoryOf reads. Before and after the timing
// one exchange of other values is verified, and the last timed one too. Errors of ShardEnd::Create
// and ConnectWorkerEnd.
absl::StatusOr<std::unique_ptr<MemberTask>> MakeServerTask(const BenchMember* member,
                                                           const std::string& link,
                                                           const BenchPlan& plan);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_SERVER_TASK_H_
