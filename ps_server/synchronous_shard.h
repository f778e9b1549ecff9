// The shard of the mode `sync`: a step is over when every worker's gradient is in it.
//
// Within a unit the law of summation (common/reduction.h) gives one order of ranks: chunk c starts
// with the gradient of rank c, then come those of c+1, c+2, ... (modulo world size). Contributions
// are parked as they were received; with the last one the unit is folded in one pass over memory,
// and its sum is handed out for all workers, while later units still arrive. With the update on the
// server the optimizer then makes parameters of the sum, and those are handed out: element by
// element the same arithmetic as on a worker, so the bits are the same.
//
// Steps are consecutive. Exactly one is open; it closes when all its units are folded, and the next
// one opens. A worker pushes step t+1 only when it has received all results of step t, which only
// exist once every worker has pushed all of t: in good order nothing but the open step can arrive.
// Everything else is refused by name, and an error changes nothing.
//
// Results lie in two arenas, used by even and odd steps in turn. That is enough: results of step t
// may still be on their way to a slow worker while t+1 is folded, in the other arena. Step t+2 is
// folded into the arena of t only after t+1 has closed, hence after every worker has pushed t+1,
// hence after every worker has received all results of t: whatever still refers to them then,
// nobody reads them any more.
//
// Resumption. A shard that takes the place of a lost one opens the oldest step that some worker has
// not got all sums of. Sums that another worker has got are restored by that worker; the rest are
// folded from gradients that are pushed again. What workers push again though it is restored
// already is dropped. A worker that has all sums already may push the next step before this one is
// closed: such frames wait.
//
// Memory: two arenas of the shard's elements, and parked frames of at most one step. Nothing is
// allocated per step but what the transport brings.
#ifndef RINGSIDE_PS_SERVER_SYNCHRONOUS_SHARD_H_
#define RINGSIDE_PS_SERVER_SYNCHRONOUS_SHARD_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ps_server/parameter_shard.h"
#include "ps_server/parked_pushes.h"
#include "ps_server/server_optimizer.h"

namespace ringside {

class SynchronousShard final : public ParameterShard {
 public:
  // As ParameterShard::Create, which calls it.
  static absl::StatusOr<std::unique_ptr<ParameterShard>> Create(Config config);

  uint64_t open_step() const override { return open_step_; }
  bool somebody_waits() const override { return resuming() || complete_workers_ > 0; }
  int64_t parked_frames() const override { return parked_.frames(); }
  // That of even steps, then that of odd ones.
  std::vector<const Arena*> result_arenas() const override;
  absl::optional<State> MutableState() override;

 private:
  SynchronousShard(const Config& config, std::shared_ptr<Arena> even, std::shared_ptr<Arena> odd,
                   std::unique_ptr<ServerOptimizer> optimizer);

  absl::Status TakePush(int unit, const FrameHeader& header, FramePayload payload,
                        std::vector<Result>* results) override;
  absl::Status TakeRestored(int unit, const FrameHeader& header, FramePayload payload,
                            std::vector<Result>* results) override;
  // Parameters of the step before the open one, for a worker that has none.
  absl::Status TakePull(const FrameHeader& header, std::vector<Result>* results) override;
  bool HasPushed(int unit, int worker) const override;

  struct Deferred {
    int unit = 0;
    FrameHeader header;
    FramePayload payload;
  };

  bool resuming() const { return !lacking_.empty(); }
  void Resume(const Resumption& resumption);
  void FoldUnit(int unit);
  void UpdateUnit(int unit);
  void Complete(int unit, FrameHeader header, std::vector<Result>* results);
  void OpenNextStep();
  // Keeps a frame of the next step.
  absl::Status Defer(int unit, const FrameHeader& header, FramePayload payload);
  // Frames of the step that has just been opened and that came before.
  void TakeDeferred(std::vector<Result>* results);
  absl::Span<float> Values(int unit, uint64_t step);
  Result ResultOf(int unit, uint64_t step);

  const std::shared_ptr<Arena> arenas_[2];            // by parity of the step
  const std::unique_ptr<ServerOptimizer> optimizer_;  // null: workers update

  uint64_t open_step_;
  ParkedPushes parked_;
  std::vector<bool> complete_;  // by unit
  int complete_units_ = 0;
  int complete_workers_ = 0;  // that have pushed all units
  std::vector<const FramePayload*> in_order_;

  // Until the first step is closed, where this shard replaces a lost one.
  std::vector<std::vector<bool>> lacking_;  // by worker and unit
  std::vector<Deferred> deferred_;
  absl::optional<uint64_t> resumed_step_;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SYNCHRONOUS_SHARD_H_
