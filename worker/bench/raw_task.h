// raw/LINK/API: the ceiling of gRPC, the frames of an exchange echoed without folding.
#ifndef RINGSIDE_WORKER_BENCH_RAW_TASK_H_
#define RINGSIDE_WORKER_BENCH_RAW_TASK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/bench/bench_plan.h"
#include "worker/bench/member_task.h"
#include "worker/bench/ps_contenders.h"

namespace ringside {

// All members at once. The frames are those that PsSummer pushes, in its order; what comes back is
// dropped where gRPC has put it. In a worker one sample is the time from the first frame sent until
// all are back. Before and after the timing one exchange is verified. Errors of ListenOn and
// ConnectTo. REQUIRES: `contender` is a raw one.
absl::StatusOr<std::unique_ptr<MemberTask>> MakeRawTask(const BenchMember* member,
                                                        const PsContender& contender,
                                                        const BenchPlan& plan);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_RAW_TASK_H_
