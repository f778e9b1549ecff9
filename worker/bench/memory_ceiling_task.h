// memory: the ceiling of a server over shared memory, what it must add and copy, without any
// waiting.
#ifndef RINGSIDE_WORKER_BENCH_MEMORY_CEILING_TASK_H_
#define RINGSIDE_WORKER_BENCH_MEMORY_CEILING_TASK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/bench/bench_plan.h"
#include "worker/bench/member_task.h"

namespace ringside {

// First all shards at once fold the gradients of all workers into their sums, unit by unit; one
// sample is the time of such a step. Then all workers at once copy their sums; one sample is the
// time of such a copy. Of P shards (or workers) on c cores only min(P, c) work at once, and their
// samples count P / min(P, c) times: the cores have that many to serve. Memory is shared memory, as
// arenas of that link are. RESOURCE_EXHAUSTED: no memory.
absl::StatusOr<std::unique_ptr<MemberTask>> MakeMemoryCeilingTask(const BenchMember* member,
                                                                  const BenchPlan& plan);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_MEMORY_CEILING_TASK_H_
