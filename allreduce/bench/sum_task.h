// An all-reduce, ours or foreign, as a contender.
#ifndef RINGSIDE_ALLREDUCE_BENCH_SUM_TASK_H_
#define RINGSIDE_ALLREDUCE_BENCH_SUM_TASK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "allreduce/all_reducer.h"
#include "allreduce/bench/rank_task.h"
#include "common/traffic.h"

namespace ringside {

class SumTask final : public RankTask {
 public:
  struct Config {
    RankContext* context = nullptr;
    std::unique_ptr<AllReducer> reducer;
    absl::Span<float> input;  // not used in place
    absl::Span<float> output;
    // By formula, for one sum of each of these lengths; null: the reducer counts nothing.
    std::function<TrafficCounters(absl::Span<const int64_t> elements)> expected_traffic;
    std::map<std::string, std::string> facts;
  };
  explicit SumTask(Config config) : config_(std::move(config)) {}

  // Out of place: the iterations follow each other at once. In place: before each one the buffer is
  // filled again and a sum of one element lets the ranks meet, both outside of the timing.
  absl::Status Run(const RankRun& run, RankDone* done) override;
  std::map<std::string, std::string> facts() const override { return config_.facts; }

 private:
  absl::Status RunOutOfPlace(const RankRun& run, RankDone* done);
  absl::Status RunInPlace(const RankRun& run, RankDone* done);
  absl::Status Sum(absl::Span<const float> in, absl::Span<float> out);

  const Config config_;
  uint64_t step_ = 0;
  std::vector<int64_t> summed_elements_;  // of every sum of this run
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_SUM_TASK_H_
