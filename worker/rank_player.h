// Plays one rank of a step: its share of the global batch, cut into micro-batches, goes through the
// model, and its gradients are submitted bucket by bucket as they become complete.
//
// Free of LibTorch. Thread-compatible: one thread calls Play, and it is a thread that LibTorch was
// configured on. A player may play several ranks in turn.
#ifndef RINGSIDE_WORKER_RANK_PLAYER_H_
#define RINGSIDE_WORKER_RANK_PLAYER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/arena.h"
#include "common/bucket_plan.h"
#include "common/trace/trace_buffer.h"
#include "worker/data/batch_loader.h"
#include "worker/data/dataset.h"
#include "worker/missing_gradients.h"
#include "worker/model_buffers.h"
#include "worker/models/bucket_tracker.h"
#include "worker/models/model.h"
#include "worker/synchronizers/gradient_synchronizer.h"

namespace ringside {

class RankPlayer {
 public:
  // What a rank's gradient is the gradient of: its part of the mean over the global batch, so that
  // the sum over ranks is the mean; its own mean (asynchronous servers); or its part of a full
  // batch of all ranks, which the server scales to the samples that count (backup workers).
  enum class Scale { kShareOfGlobalBatch, kOwnMean, kShareOfFullBatch };

  struct Config {
    int world_size = 1;
    int64_t global_batch_size = 1;  // of all ranks and all micro-batches
    int64_t seed = 1;               // of shuffling and dropout
    std::vector<int> ranks;         // that this player plays, in this order
    int data_threads = 0;           // that load ahead; 0: Play loads
    // Micro-batches a step. Their gradients are added up and travel once, with the last.
    int accumulate = 1;
    Scale scale = Scale::kShareOfGlobalBatch;
    bool overlap = true;  // false: buckets are submitted when backward has ended, none before
    // The synchronizer may want to let neighbours read the gradients.
    Arena::Placement gradient_placement = Arena::Placement::kHeap;
    std::function<absl::Duration()> clock;  // monotonic; any origin
    // Called once a step before the forward pass, whose time it counts to: for ranks that are made
    // slow on purpose. May be empty.
    std::function<void(int64_t step, int rank)> straggle = nullptr;
    // Borrowed; null: nothing is traced. The clock is then the one that the buffer goes by.
    TraceBuffer* trace = nullptr;
  };

  // What one rank did in one step.
  struct Turn {
    int64_t epoch = 0;
    int64_t samples = 0;
    int64_t global_samples = 0;
    double loss = 0;      // this rank's part of the mean over the global batch
    absl::Duration data;  // with data_threads, the wait for them
    absl::Duration forward;
    absl::Duration backward;
    // By the clock: when the first and the last bucket were handed over.
    absl::Duration first_ready_at;
    absl::Duration ready_at;
  };

  // Allocates gradients and batches, and binds the model to `parameters`. All pointers are borrowed
  // and must outlive the player. INVALID_ARGUMENT: an empty data set or batch, or the length of
  // `parameters` is not the model's, fewer than one micro-batch.
  static absl::StatusOr<std::unique_ptr<RankPlayer>> Create(Config config, const Dataset* data,
                                                            const BucketPlan* plan, Model* model,
                                                            absl::Span<float> parameters);

  // Where buckets go from now on. Borrowed.
  void Attach(GradientSynchronizer* synchronizer) { synchronizer_ = synchronizer; }

  // Submits every bucket of `rank`, in order. `last`: nobody in this process plays after it. The
  // error is the model's or the data set's.
  absl::StatusOr<Turn> Play(int64_t step, int rank, bool last);

  // The model's buffers as `rank` has them, which is one of those that this player plays: each rank
  // has its own. Empty where the model has none. Not while a rank is played.
  absl::StatusOr<BufferValues> Buffers(int rank) const;
  // The same into `values`, without allocating where they have come from here before.
  absl::Status CopyBuffers(int rank, BufferValues* values) const;
  // Gives all ranks the same.
  absl::Status SetBuffers(const BufferValues& values);
  // Gives `rank`, which is one of those that this player plays, its own.
  absl::Status SetBuffersOf(int rank, const BufferValues& values);

  int64_t steps_per_epoch() const { return loader_->steps_per_epoch(); }
  // Of the rank that was played last.
  const Arena& gradients() const { return *gradients_; }

 private:
  RankPlayer(Config config, const BucketPlan* plan, Model* model,
             std::unique_ptr<BatchLoader> loader, std::unique_ptr<Arena> gradients);

  absl::Status PlayMicroBatch(int part, Turn* turn);
  absl::StatusOr<Turn> PlayMicroBatches();
  // Of a micro-batch's mean loss, in the rank's gradient.
  double GradientWeight(int64_t samples, const Turn& turn) const;
  void Submit(int bucket);
  void NoteFull(int bucket);
  void Trace(TraceKind kind, absl::Duration begin, absl::Duration end);

  // Constant after construction.
  const Config config_;
  const BucketPlan* const plan_;
  Model* const model_;
  const std::unique_ptr<BatchLoader> loader_;
  const std::unique_ptr<Arena> gradients_;

  BucketTracker tracker_;
  MissingGradients missing_;  // of rank 0, where it is played
  GradientSynchronizer* synchronizer_ = nullptr;
  // By rank, where ranks take turns with one model that has buffers.
  std::map<int, BufferValues> buffers_;
  // Of the turn that is being played.
  int64_t step_ = 0;
  int rank_ = 0;
  int64_t samples_ = 0;
  bool submitting_ = false;  // the last micro-batch: gradients that are complete can go
  bool after_backward_ = false;
  absl::Duration first_ready_at_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_RANK_PLAYER_H_
