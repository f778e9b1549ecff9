// The parent's side of a whole run: groups, rounds, results.
#ifndef RINGSIDE_ALLREDUCE_BENCH_BENCH_RUN_H_
#define RINGSIDE_ALLREDUCE_BENCH_BENCH_RUN_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allreduce/bench/bench_config.h"
#include "allreduce/bench/contender_catalog.h"
#include "allreduce/bench/rank_group.h"
#include "allreduce_bench.pb.h"

namespace ringside {

// Thread-compatible.
class BenchRun {
 public:
  struct Surroundings {
    std::string binary;                    // this program, to start as ranks
    std::vector<std::string> environment;  // "NAME=value"
    bool as_root = false;
  };
  // Called with the results of one world size and size, as soon as they are there.
  using Progress = std::function<void(const std::vector<AllReduceMeasurement>&)>;

  BenchRun(BenchConfig config, std::vector<Contender> contenders, Surroundings surroundings)
      : config_(std::move(config)),
        contenders_(std::move(contenders)),
        surroundings_(std::move(surroundings)) {}

  // All contenders of a world size are alive at once and have their turns one after the other, in
  // every round in the opposite order; the others block in read meanwhile. Errors of RankGroup,
  // with the contender, ranks and size put in front.
  absl::StatusOr<std::vector<AllReduceMeasurement>> Run(const Progress& progress);

  // What was left out, and why.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  // A contender at one world size.
  struct Entry {
    const Contender* contender;
    RankGroup* group;
    std::map<std::string, std::string> facts;
  };
  using Groups = std::map<std::string, std::unique_ptr<RankGroup>>;

  absl::StatusOr<RankGroup*> GroupOf(const Contender& contender, int world_size, Groups* groups);
  absl::StatusOr<std::vector<Entry>> PrepareAll(int world_size, Groups* groups);
  absl::StatusOr<std::vector<AllReduceMeasurement>> MeasureSize(const std::vector<Entry>& entries,
                                                                int world_size, int64_t bytes);
  absl::StatusOr<std::vector<RankDone>> Turn(const Entry& entry, int world_size, int64_t bytes,
                                             int warmup, int iterations);
  bool InPlace(const Contender& contender) const;

  const BenchConfig config_;
  const std::vector<Contender> contenders_;
  const Surroundings surroundings_;
  std::vector<std::string> notes_;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_BENCH_RUN_H_
