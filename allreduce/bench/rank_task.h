// One contender inside one rank process.
#ifndef RINGSIDE_ALLREDUCE_BENCH_RANK_TASK_H_
#define RINGSIDE_ALLREDUCE_BENCH_RANK_TASK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "allreduce/baselines/address_exchange.h"
#include "allreduce_bench_control.pb.h"
#include "common/arena.h"

namespace ringside {

// What a rank's contenders share. Buffers have the largest size of the run and are made when they
// are first asked for, touched.
class RankContext {
 public:
  RankContext(int rank, RankSetup setup, AddressExchange exchange)
      : rank_(rank), setup_(std::move(setup)), exchange_(std::move(exchange)) {}

  int rank() const { return rank_; }
  int world_size() const { return setup_.world_size(); }
  const RankSetup& setup() const { return setup_; }
  absl::Duration timeout() const { return absl::Seconds(setup_.timeout_s()); }
  const AddressExchange& exchange() const { return exchange_; }

  // RESOURCE_EXHAUSTED: no memory.
  absl::StatusOr<Arena*> Input() { return MakeOnce(&input_); }
  absl::StatusOr<Arena*> Output() { return MakeOnce(&output_); }
  // The same from malloc, for the contenders without arenas.
  absl::Span<float> HeapInput() { return MakeOnce(&heap_input_); }
  absl::Span<float> HeapOutput() { return MakeOnce(&heap_output_); }

 private:
  absl::StatusOr<Arena*> MakeOnce(std::unique_ptr<Arena>* arena) {
    if (*arena == nullptr) {
      auto made = Arena::Create(setup_.max_elements(), Arena::Placement::kShared);
      if (!made.ok()) return made.status();
      *arena = *std::move(made);
    }
    return arena->get();
  }
  absl::Span<float> MakeOnce(std::vector<float>* buffer) {
    buffer->resize(setup_.max_elements());
    return absl::MakeSpan(*buffer);
  }

  const int rank_;
  const RankSetup setup_;
  const AddressExchange exchange_;
  std::unique_ptr<Arena> input_;
  std::unique_ptr<Arena> output_;
  std::vector<float> heap_input_;
  std::vector<float> heap_output_;
};

class RankTask {
 public:
  virtual ~RankTask() = default;

  // All ranks at once: warm-up, iterations, verification. Fills in everything of `done` but the
  // status.
  virtual absl::Status Run(const RankRun& run, RankDone* done) = 0;

  // What is in force, e.g. which link was made.
  virtual std::map<std::string, std::string> facts() const { return {}; }
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_RANK_TASK_H_
