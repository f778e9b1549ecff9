// The ceiling of a socket: what a ring all-reduce must move, moved by plain sockets.
#ifndef RINGSIDE_ALLREDUCE_BENCH_RAW_EXCHANGE_TASK_H_
#define RINGSIDE_ALLREDUCE_BENCH_RAW_EXCHANGE_TASK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "allreduce/bench/neighbours.h"
#include "allreduce/bench/rank_task.h"

namespace ringside {

// Every rank sends 2(N-1)/N of the vector to its right neighbour and receives as much from the left
// one, at once, in pieces of 256 KiB and at most one of them ahead, without framing or adding.
class RawExchangeTask final : public RankTask {
 public:
  // `transport`: "tcp" or "uds". Errors of ConnectNeighbours.
  static absl::StatusOr<std::unique_ptr<RankTask>> Create(const std::string& transport,
                                                          RankContext* context);

  absl::Status Run(const RankRun& run, RankDone* done) override;
  std::map<std::string, std::string> facts() const override;

 private:
  RawExchangeTask(RankContext* context, Neighbours neighbours, absl::Span<float> input,
                  absl::Span<float> output)
      : context_(context), neighbours_(std::move(neighbours)), input_(input), output_(output) {}
  absl::Status Exchange(int64_t vector_bytes, int64_t moved_bytes);

  RankContext* const context_;
  const Neighbours neighbours_;
  const absl::Span<float> input_;
  const absl::Span<float> output_;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_RAW_EXCHANGE_TASK_H_
