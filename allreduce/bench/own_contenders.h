// Our own all-reducers as contenders.
#ifndef RINGSIDE_ALLREDUCE_BENCH_OWN_CONTENDERS_H_
#define RINGSIDE_ALLREDUCE_BENCH_OWN_CONTENDERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "allreduce/bench/contender_catalog.h"
#include "allreduce/bench/rank_task.h"

namespace ringside {

// Errors of MakeReducer. FAILED_PRECONDITION: another link came out than the one that the contender
// is named for.
absl::StatusOr<std::unique_ptr<RankTask>> MakeOwnContender(const Contender& contender,
                                                           RankContext* context);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_OWN_CONTENDERS_H_
