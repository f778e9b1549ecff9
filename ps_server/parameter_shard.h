// One shard of a synchronous parameter server: what it does with frames, without gRPC, threads,
// locks or a clock.
//
// The unit of work is bucket ∩ chunk ∩ stripe ∩ frame (common/unit_table.h). Within a unit the law
// of summation (common/reduction.h) gives one order of ranks: chunk c starts with the gradient of
// rank c, which is copied into the sum buffer, then those of c+1, c+2, ... (modulo world size) are
// added. A contribution that comes before its turn is parked as it was received and folded from
// there. As soon as a unit has all contributions, its sum is handed out for all workers, while
// later units still arrive.
//
// Steps are consecutive. Exactly one is open; it closes when all its units are folded, and the next
// one opens. A worker pushes step t+1 only when it has received all sums of step t, which only
// exist once every worker has pushed all of t: in good order nothing but the open step can arrive.
// Everything else is refused by name, and an error changes nothing.
//
// Sums lie in two arenas, used by even and odd steps in turn. That is enough: sums of step t may
// still be on their way to a slow worker while t+1 is folded, in the other arena. Step t+2 is
// folded into the arena of t only after t+1 has closed, hence after every worker has pushed t+1,
// hence after every worker has received all sums of t: whatever still refers to them then, nobody
// reads them any more.
//
// Memory: two arenas of the shard's elements, and parked frames of at most one step (world size - 1
// times the shard's elements). Nothing is allocated per step but what the transport brings.
// Thread-compatible: one thread owns it.
#ifndef RINGSIDE_PS_SERVER_PARAMETER_SHARD_H_
#define RINGSIDE_PS_SERVER_PARAMETER_SHARD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/arena.h"
#include "common/bucket_plan.h"
#include "common/frame_codec.h"
#include "common/frame_payload.h"
#include "common/unit_table.h"

namespace ringside {

class ParameterShard {
 public:
  struct Config {
    BucketPlan plan;
    ShardLayout layout;
    int shard = 0;
    uint32_t group = 0;
    uint32_t generation = 0;
    uint64_t first_step = 0;  // 0 is the broadcast of the initial parameters
    Arena::Placement placement = Arena::Placement::kHeap;  // of the sums
  };

  // A finished unit, for every worker. `owner` keeps the memory of `sum`; the values last until the
  // unit is folded again two steps later.
  struct Result {
    FrameHeader header;
    absl::Span<const float> sum;
    std::shared_ptr<const Arena> owner;
  };

  // What keeps the open step open.
  struct Missing {
    uint64_t step = 0;
    int bucket = 0;            // the first that is not complete
    std::vector<int> workers;  // who have not pushed all of that bucket
    int64_t bytes = 0;         // that they have yet to push of it, together
  };

  // INVALID_ARGUMENT: see ShardLayout::Validate; RESOURCE_EXHAUSTED: no memory for the sums.
  static absl::StatusOr<std::unique_ptr<ParameterShard>> Create(Config config);

  // Takes one contribution and appends the units that it completes to `results`. Errors name the
  // frame, what would be right and, as suspect, the sender; then nothing was changed:
  //   INVALID_ARGUMENT     not a push, another group, sender outside the group, another shard's
  //   unit or no unit, payload of
  //                        another length than the header says
  //   OUT_OF_RANGE         no such bucket, behind the end of the bucket, a step that is not open
  //   yet FAILED_PRECONDITION  a step that is closed, another generation ALREADY_EXISTS       this
  //   sender has pushed this unit in this step
  absl::Status Push(const FrameHeader& header, FramePayload payload, std::vector<Result>* results);

  // Where the results lie.
  std::vector<const Arena*> result_arenas() const { return {arenas_[0].get(), arenas_[1].get()}; }

  uint64_t open_step() const { return open_step_; }
  int64_t closed_steps() const { return static_cast<int64_t>(open_step_ - first_step_); }
  // Some worker has pushed some, or all, of the open step. While anybody has pushed all, that
  // worker waits for the others.
  bool started() const { return pushed_units_ > 0; }
  bool somebody_waits() const { return complete_workers_ > 0; }
  // Whether `worker` has pushed all of the open step.
  bool HasPushedAll(int worker) const { return pushed_by_[worker] == table_.size(); }
  // REQUIRES: the shard has elements.
  Missing FindMissing() const;
  int64_t parked_frames() const { return static_cast<int64_t>(nodes_.size() - free_nodes_.size()); }

 private:
  // What is known of one unit in the open step.
  struct UnitState {
    int folded = 0;  // contributions in the sum
    bool finite = true;
    uint64_t weight = 0;
  };
  using Node = int32_t;  // index into nodes_
  static constexpr Node kNone = -1;
  struct ParkedFrame {
    FrameHeader header;
    FramePayload payload;
  };

  ParameterShard(Config config, std::shared_ptr<Arena> even, std::shared_ptr<Arena> odd);

  absl::StatusOr<int> CheckedUnit(const FrameHeader& header, const FramePayload& payload) const;
  // Position of `sender` in the order of folding of `unit`.
  int Turn(int unit, int sender) const;
  bool HasPushed(int unit, int worker) const;
  Node& Parked(int unit, int worker) {
    return parked_[static_cast<size_t>(unit) * layout_.world_size + worker];
  }
  Node Parked(int unit, int worker) const {
    return parked_[static_cast<size_t>(unit) * layout_.world_size + worker];
  }
  void Park(int unit, const FrameHeader& header, FramePayload payload);
  void Fold(int unit, const FrameHeader& header, const FramePayload& payload);
  void FoldParked(int unit);
  absl::Span<float> Sum(int unit);
  Result ResultOf(int unit);
  void CountPush(int worker);
  void OpenNextStep();

  // Constant after construction.
  const ShardLayout layout_;
  const int shard_;
  const uint32_t group_;
  const uint32_t generation_;
  const uint64_t first_step_;
  const UnitTable table_;
  const std::shared_ptr<Arena> arenas_[2];  // by parity of the step

  // Of the open step.
  uint64_t open_step_;
  std::vector<UnitState> units_;
  std::vector<Node> parked_;    // by unit and worker
  std::vector<int> pushed_by_;  // units, by worker
  int64_t pushed_units_ = 0;    // by all workers
  int complete_workers_ = 0;
  int complete_units_ = 0;

  // Reused from step to step.
  std::vector<ParkedFrame> nodes_;
  std::vector<Node> free_nodes_;
};

// "worker 2 at step 5 bucket 1 (4096 bytes)"
std::string Describe(const ParameterShard::Missing& missing);

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_PARAMETER_SHARD_H_
