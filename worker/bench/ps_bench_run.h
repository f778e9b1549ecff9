// The parent's side of a whole run: processes, rounds, results.
#ifndef RINGSIDE_WORKER_BENCH_PS_BENCH_RUN_H_
#define RINGSIDE_WORKER_BENCH_PS_BENCH_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allreduce/bench/rank_group.h"
#include "ps_bench.pb.h"
#include "worker/bench/ps_bench_config.h"
#include "worker/bench/ps_contenders.h"
#include "worker/bench/turn_plan.h"

namespace ringside {

// Thread-compatible.
class PsBenchRun {
 public:
  struct Surroundings {
    std::string binary;                    // this program, to start as workers and shards
    std::vector<std::string> environment;  // "NAME=value"
  };
  // Called with the results of one shape and size, as soon as they are there.
  using Progress = std::function<void(const std::vector<PsMeasurement>&)>;

  PsBenchRun(PsBenchConfig config, std::vector<PsContender> contenders, Surroundings surroundings)
      : config_(std::move(config)),
        contenders_(std::move(contenders)),
        surroundings_(std::move(surroundings)) {}

  // For every shape one group of processes, in which all contenders have their turns one after the
  // other, in every round in the opposite order. Errors of RankGroup, with contender, shape and
  // size put in front.
  absl::StatusOr<std::vector<PsMeasurement>> Run(const Progress& progress);

  // What shards occupy at the largest size, for every shape and every server: in processes that do
  // nothing else. Errors as above.
  absl::StatusOr<std::vector<PsShardMemory>> MeasureShardMemory();

 private:
  absl::StatusOr<std::unique_ptr<RankGroup>> StartGroup(const PsShape& shape) const;
  // All contenders once, to know how long they take.
  absl::StatusOr<TurnPlan> Calibrate(const PsShape& shape, int64_t bytes, RankGroup* group) const;
  absl::StatusOr<std::vector<PsMeasurement>> MeasureSize(const PsShape& shape, int64_t bytes,
                                                         RankGroup* group) const;
  absl::StatusOr<std::vector<RankDone>> Turn(const PsContender& contender, const PsShape& shape,
                                             int64_t bytes, int warmup, int iterations,
                                             RankGroup* group) const;

  const PsBenchConfig config_;
  const std::vector<PsContender> contenders_;
  const Surroundings surroundings_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_PS_BENCH_RUN_H_
