// One shard of a parameter server: what it does with frames, without gRPC, threads, locks or a
// clock.
//
// This is what all modes share (common/ps_policy.h): who may send what, ends and pulls, who is
// waited for. The modes are synchronous_shard.h, asynchronous_shard.h and backup_shard.h. The unit
// of work is bucket ∩ chunk ∩ stripe ∩ frame (common/unit_table.h).
//
// Step 0 is the broadcast of the initial parameters, in every mode: worker 0 pushes them and
// everybody else negative zeros, so that their sum is worker 0's parameters.
//
// A worker says kFinish after its last step. When all have, everybody is sent what the mode still
// owes, then kFinish: from then on nobody needs the shard.
//
// Thread-compatible: one thread owns a shard. Folds, updates and copies of large units are forked
// over Config::threads and joined before Push or Elect returns; the bits are the same for any
// number.
#ifndef RINGSIDE_PS_SERVER_PARAMETER_SHARD_H_
#define RINGSIDE_PS_SERVER_PARAMETER_SHARD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "common/arena.h"
#include "common/bucket_plan.h"
#include "common/fork_join.h"
#include "common/frame_codec.h"
#include "common/frame_payload.h"
#include "common/learning_rate.h"
#include "common/optimizer.h"
#include "common/ps_policy.h"
#include "common/unit_table.h"

namespace ringside {

class ParameterShard {
 public:
  static constexpr int kEveryWorker = -1;

  // A frame for a worker, or for every worker. `owner` keeps the memory of `values`, which stay as
  // they are until the worker has received them all (each mode says why).
  struct Result {
    FrameHeader header;
    absl::Span<const float> values;
    std::shared_ptr<const Arena> owner;
    int worker = kEveryWorker;
  };

  // What keeps the open step open.
  struct Missing {
    uint64_t step = 0;
    int bucket = 0;            // the first that is not complete
    std::vector<int> workers;  // who have not pushed all of that bucket
    int64_t bytes = 0;         // that they have yet to push of it, together
  };

  // The first workers to finish a step, in backup mode.
  struct Election {
    uint64_t step = 0;
    std::vector<int> workers;  // ascending
  };

  // What outlives a shard: enough to go on after `step` with the same bits.
  struct State {
    uint64_t step = 0;  // that every worker has been part of (or could have been, in backup mode)
    absl::Span<float> parameters;  // packed: unit after unit
    std::vector<absl::Span<float>> optimizer;
    absl::Span<uint64_t> versions;  // of every unit, in updates; empty in synchronous modes
  };

  // A synchronous shard without parameters starts anew inside a step of which some workers have
  // sums already.
  struct Resumption {
    // Per worker and unit: it has yet to get the sum of the first step.
    std::vector<std::vector<bool>> lacking;
  };

  struct Config {
    BucketPlan plan;
    ShardLayout layout;
    int shard = 0;
    uint32_t group = 0;
    uint32_t generation = 0;
    uint64_t first_step = 0;  // to be opened
    PsPolicy policy = {};
    // Of the update on the server.
    OptimizerConfig optimizer = {};
    LearningRateConfig learning_rate = {};
    int64_t full_batch = 0;  // samples of a step of all workers; of modes but sync
    Arena::Placement placement = Arena::Placement::kHeap;  // of what workers are sent
    int threads = 1;  // that fold one unit, the caller's included
    // Of backup: shard 0 elects and tells the others. Must not block.
    std::function<void(const Election&)> on_election = nullptr;
    absl::optional<Resumption> resumption = absl::nullopt;
  };

  // What a shard has done, for people.
  struct Statistics {
    int64_t pushes = 0;              // frames with gradients that were taken
    int64_t answers = 0;             // frames with values, each worker's counted
    int64_t updates = 0;             // by the optimizer, in units
    int64_t late_pushes = 0;         // steps of a worker that did not count, in backup mode
    std::vector<int64_t> staleness;  // units by the updates that they missed; the last: and more

    Statistics& operator+=(const Statistics& other);
  };

  // The shard of the policy's mode. INVALID_ARGUMENT: see ShardLayout::Validate, or a policy,
  // optimizer, schedule or number of threads that is not valid; RESOURCE_EXHAUSTED: no memory for
  // the values.
  static absl::StatusOr<std::unique_ptr<ParameterShard>> Create(Config config);
  virtual ~ParameterShard() = default;

  // Takes one frame and appends what it leads to to `results`. Errors name the frame, what would
  // be right and, as suspect, the sender; then nothing was changed:
  //   INVALID_ARGUMENT     a kind that no worker sends in this mode, another group, sender outside
  //                        the group, another shard's unit or no unit, payload of another length
  //                        than the header says
  //   OUT_OF_RANGE         no such bucket, behind the end of the bucket, a step that is not open
  //                        yet
  //   FAILED_PRECONDITION  a step that is closed, another generation, after the sender's kFinish
  //   ALREADY_EXISTS       this sender has pushed this unit in this step
  absl::Status Push(const FrameHeader& header, FramePayload payload, std::vector<Result>* results);
  // Shard 0's word on who counts. FAILED_PRECONDITION: not in this mode, or not the open step.
  virtual absl::Status Elect(const Election& election, std::vector<Result>* results);

  // The step that waits for somebody's gradients; in asynchronous modes the slowest worker's.
  virtual uint64_t open_step() const = 0;
  // Of those who have pushed all that they can, somebody waits for others.
  virtual bool somebody_waits() const = 0;
  // REQUIRES: the shard has elements.
  Missing FindMissing() const;
  bool has_finished(int worker) const { return finished_[worker]; }
  bool all_finished() const { return num_finished_ == layout_.world_size; }
  virtual int64_t parked_frames() const { return 0; }

  // Where the values of results lie, in the order by which workers know them.
  virtual std::vector<const Arena*> result_arenas() const = 0;
  // Nothing where no parameters are kept, or none yet, and in synchronous modes while some units of
  // the open step are updated and others are not: between steps there is always a state. Valid
  // until the next call of Push or Elect.
  virtual absl::optional<State> MutableState() { return absl::nullopt; }
  const Statistics& statistics() const { return statistics_; }
  const UnitTable& table() const { return table_; }

 protected:
  explicit ParameterShard(const Config& config);

  // Frames that have passed the checks that all modes share. `unit` is header's.
  virtual absl::Status TakePush(int unit, const FrameHeader& header, FramePayload payload,
                                std::vector<Result>* results) = 0;
  virtual absl::Status TakeRestored(int unit, const FrameHeader& header, FramePayload payload,
                                    std::vector<Result>* results);
  virtual absl::Status TakePull(const FrameHeader& header, std::vector<Result>* results);
  // All workers have finished: what they are still owed.
  virtual void AppendFinal(std::vector<Result>* /*results*/) {}
  // Whether the worker has pushed the unit in the open step.
  virtual bool HasPushed(int unit, int worker) const = 0;

  // A refusal of `header`, as Push documents them.
  absl::Status Refuse(absl::StatusCode code, const FrameHeader& header,
                      absl::string_view why) const;
  absl::Status RefusalOfClosed(const FrameHeader& header) const;
  absl::Status RefusalOfFuture(const FrameHeader& header) const;
  FrameHeader ResultHeader(int unit, uint64_t step) const;

  // Counts the results from `first` on.
  void CountAnswers(const std::vector<Result>& results, size_t first);

  int world_size() const { return layout_.world_size; }
  int shard() const { return shard_; }
  Statistics& mutable_statistics() { return statistics_; }
  // For work on the elements of a unit.
  ForkJoin* fork_join() { return &fork_join_; }

 private:
  absl::Status Dispatch(const FrameHeader& header, FramePayload payload,
                        std::vector<Result>* results);
  absl::Status CheckSender(const FrameHeader& header) const;
  absl::Status TakeFinish(int worker, std::vector<Result>* results);

  // Constant after construction.
  const ShardLayout layout_;
  const int shard_;
  const uint32_t group_;
  const uint32_t generation_;
  const UnitTable table_;

  ForkJoin fork_join_;
  std::vector<bool> finished_;  // by worker
  int num_finished_ = 0;
  Statistics statistics_;
};

// "worker 2 at step 5 bucket 1 (4096 bytes)"
std::string Describe(const ParameterShard::Missing& missing);

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_PARAMETER_SHARD_H_
