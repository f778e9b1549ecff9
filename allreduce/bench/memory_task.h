// The ceiling of shared memory: what a ring all-reduce must add and copy, without any waiting.
#ifndef RINGSIDE_ALLREDUCE_BENCH_MEMORY_TASK_H_
#define RINGSIDE_ALLREDUCE_BENCH_MEMORY_TASK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "allreduce/bench/rank_task.h"
#include "common/shared_memory/peer_memory.h"

namespace ringside {

// For N ranks on c cores: the first min(N, c) ranks at once add N-1 of N chunks, taking the partial
// sum from the left neighbour's memory and the summand from their own, and then copy as many from
// there, chunk by chunk as the ring meets them, again and again: each exchange finds in the caches
// what the one before has left there. One sample is the time of an exchange * N / min(N, c): the
// cores have that many ranks to serve. The other ranks give no samples.
class MemoryTask final : public RankTask {
 public:
  // Errors of ConnectNeighbours and PeerMemory.
  static absl::StatusOr<std::unique_ptr<RankTask>> Create(RankContext* context);

  absl::Status Run(const RankRun& run, RankDone* done) override;

 private:
  MemoryTask(RankContext* context, std::unique_ptr<PeerMemory> left_memory,
             absl::Span<const float> left, absl::Span<const float> input, absl::Span<float> output,
             int cores)
      : context_(context),
        left_memory_(std::move(left_memory)),
        left_(left),
        input_(input),
        output_(output),
        cores_(cores) {}
  void AddChunks(int64_t elements);
  void CopyChunks(int64_t elements);
  absl::Status Meet() const;

  RankContext* const context_;
  const std::unique_ptr<PeerMemory> left_memory_;
  const absl::Span<const float> left_;  // the left neighbour's output
  const absl::Span<const float> input_;
  const absl::Span<float> output_;
  const int cores_;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_MEMORY_TASK_H_
