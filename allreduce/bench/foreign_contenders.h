// The baselines as contenders: the only place of the bench that knows which of them are built.
#ifndef RINGSIDE_ALLREDUCE_BENCH_FOREIGN_CONTENDERS_H_
#define RINGSIDE_ALLREDUCE_BENCH_FOREIGN_CONTENDERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "allreduce/bench/contender_catalog.h"
#include "allreduce/bench/rank_task.h"

namespace ringside {

BuiltBaselines BaselinesOfThisBuild();

// What the foreign contenders of one process share: MPI starts once a process.
class ForeignContenders {
 public:
  ForeignContenders();
  ~ForeignContenders();

  // The tasks must not outlive this object. UNIMPLEMENTED: not in this build. Errors of
  // GlooAllReducer and MpiWorld otherwise.
  absl::StatusOr<std::unique_ptr<RankTask>> Make(const Contender& contender, RankContext* context);

 private:
  struct Mpi;
  absl::StatusOr<std::unique_ptr<RankTask>> MakeGloo(const Contender& contender,
                                                     RankContext* context);
  absl::StatusOr<std::unique_ptr<RankTask>> MakeMpi(const Contender& contender,
                                                    RankContext* context);
  std::unique_ptr<Mpi> mpi_;  // null until the first contender needs it
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_FOREIGN_CONTENDERS_H_
