// The shard of the modes `async` and `ssp`: every push is applied when it arrives, and answered
// with the parameters as they are then.
//
// A push of step t is a worker's own mean gradient over its batch. It is applied with the learning
// rate times its samples over those of a full batch of all workers: so the learning rate means the
// same as in the synchronous modes, because a push of every worker together moves the parameters as
// far as one synchronous step would. Every unit counts its updates: the count is what Adam corrects
// its bias by, and the schedule is at step ceil(count / world size), which all workers together
// have taken. A push without samples is answered and changes nothing.
//
// Staleness of a push: by how many updates of others the unit has moved since the worker was sent
// it.
//
// ssp (Ho et al. 2013, "More Effective Distributed ML via a Stale Synchronous Parallel Parameter
// Server"): a worker that has pushed step t is only answered when the slowest worker has pushed all
// of step t - staleness, so nobody is further ahead than that. With a staleness of 0 all wait for
// all.
//
// When all workers have finished, each is sent the final parameters, so that all end with the same.
#ifndef RINGSIDE_PS_SERVER_ASYNCHRONOUS_SHARD_H_
#define RINGSIDE_PS_SERVER_ASYNCHRONOUS_SHARD_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ps_server/parameter_shard.h"
#include "ps_server/served_parameters.h"

namespace ringside {

class AsynchronousShard final : public ParameterShard {
 public:
  // As ParameterShard::Create, which calls it. INVALID_ARGUMENT also: a negative staleness,
  // or no full batch.
  static absl::StatusOr<std::unique_ptr<ParameterShard>> Create(Config config);

  // Of the slowest worker.
  uint64_t open_step() const override;
  bool somebody_waits() const override { return held_ > 0 || waiting_for_parameters_ > 0; }
  std::vector<const Arena*> result_arenas() const override { return served_->copies(); }
  absl::optional<State> MutableState() override;

 private:
  // What is known of one unit and one worker.
  struct Exchange {
    uint64_t pushed = 0;        // steps; the next is expected to be first_step + pushed
    uint64_t version_sent = 0;  // updates of the unit that the worker has seen
    bool held = false;          // it waits for an answer
  };

  AsynchronousShard(const Config& config, std::unique_ptr<ServedParameters> served);

  absl::Status TakePush(int unit, const FrameHeader& header, FramePayload payload,
                        std::vector<Result>* results) override;
  absl::Status TakePull(const FrameHeader& header, std::vector<Result>* results) override;
  void AppendFinal(std::vector<Result>* results) override;
  bool HasPushed(int unit, int worker) const override;

  void TakeInitial(int unit, int worker, const FramePayload& payload, std::vector<Result>* results);
  void Apply(int unit, int worker, const FrameHeader& header, const FramePayload& payload);
  void CountStaleness(uint64_t missed);
  // The worker has pushed all units of a step.
  void CountStep(int worker);
  bool MayGoOn(int worker) const;
  void Answer(int unit, int worker, std::vector<Result>* results);
  void AnswerHeld(std::vector<Result>* results);
  Exchange& exchange(int unit, int worker) {
    return exchanges_[static_cast<size_t>(unit) * world_size() + worker];
  }
  const Exchange& exchange(int unit, int worker) const {
    return exchanges_[static_cast<size_t>(unit) * world_size() + worker];
  }

  const bool bounded_;  // ssp
  const uint64_t staleness_;
  const double full_batch_;  // samples
  const uint64_t first_step_;
  const std::unique_ptr<ServedParameters> served_;

  std::vector<uint64_t> versions_;      // updates, by unit
  std::vector<bool> initialized_;       // by unit
  std::vector<Exchange> exchanges_;     // by unit and worker
  std::vector<uint64_t> steps_;         // completely pushed, by worker
  std::vector<int> units_of_step_;      // pushed of the step after those, by worker
  int64_t held_ = 0;                    // answers that wait for slower workers
  int64_t waiting_for_parameters_ = 0;  // answers that wait for worker 0's initial ones
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_ASYNCHRONOUS_SHARD_H_
