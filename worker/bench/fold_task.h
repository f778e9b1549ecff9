// fold and add: what the state machine of one shard folds, alone in one thread, against the plain
// kernels.
#ifndef RINGSIDE_WORKER_BENCH_FOLD_TASK_H_
#define RINGSIDE_WORKER_BENCH_FOLD_TASK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/bench/bench_plan.h"
#include "worker/bench/member_task.h"

namespace ringside {

// The first shard measures, with as many workers as there are; all others have nothing to do.
//
// fold: one shard that owns everything gets the frames of one step, unit by unit, from worker 0
// first, so that some are folded as they come and some are parked. Payloads are as gRPC delivers
// them: in pieces of at most 64 KiB that begin and end in the middle of a float. One sample is the
// time of one step's pushes; every sum is verified before and after.
absl::StatusOr<std::unique_ptr<MemberTask>> MakeFoldTask(const BenchMember* member,
                                                         const BenchPlan& plan);

// add: the same units of aligned floats, the first copied by Copy, the others added by Add.
absl::StatusOr<std::unique_ptr<MemberTask>> MakeAddTask(const BenchMember* member,
                                                        const BenchPlan& plan);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_FOLD_TASK_H_
