// Loads the micro-batches of the ranks that one player plays, in the order in which it plays them:
// by step, rank and micro-batch. With threads of its own it runs ahead, so that the next batch is
// there when it is asked for.
//
// What comes when is the Sampler's word alone, so the bits are the same with any number of threads.
// Asking for anything but the next micro-batch (a step is repeated or left out) throws away what
// was loaded ahead and starts there. There are two buffers more than threads: what is loaded ahead
// is bounded.
//
// Thread-compatible: one thread calls Get. An own mutex guards what it shares with the loading
// threads; a buffer belongs to the thread that loads it, then to the caller of Get.
#ifndef RINGSIDE_WORKER_DATA_BATCH_LOADER_H_
#define RINGSIDE_WORKER_DATA_BATCH_LOADER_H_

#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "worker/data/batch_buffer.h"
#include "worker/data/dataset.h"
#include "worker/data/sampler.h"

namespace ringside {

class BatchLoader {
 public:
  struct Config {
    int world_size = 1;
    int64_t global_batch_size = 1;  // of all ranks and all micro-batches
    int64_t seed = 1;               // of shuffling
    int accumulate = 1;             // micro-batches a step
    std::vector<int> ranks;         // in the order in which they are played; not empty
    int threads = 0;                // 0: Get loads
  };

  struct MicroBatch {
    int64_t epoch = 0;           // counts from 0
    int64_t global_samples = 0;  // of the step, all ranks
    int64_t rank_samples = 0;    // of the step, this rank
    int64_t samples = 0;         // of the micro-batch; those without any come last
    Batch batch;                 // lent until the next Get
  };

  // `data` is borrowed and must outlive the loader. INVALID_ARGUMENT: an empty data set or batch,
  // fewer than one micro-batch.
  static absl::StatusOr<std::unique_ptr<BatchLoader>> Create(Config config, const Dataset* data);
  // Waits for what is being loaded.
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  // Micro-batch `part` (from 0) of `rank` in step `step` (from 1). Blocks until it is loaded. The
  // error is the data set's; the micro-batch may be asked for again.
  absl::StatusOr<MicroBatch> Get(int64_t step, int rank, int part);

  int64_t steps_per_epoch() const { return steps_per_epoch_; }

 private:
  // A buffer and what is in it. Only `holds` is shared between threads; the rest belongs to whoever
  // loads, then to the caller of Get.
  struct Slot {
    explicit Slot(BatchBuffer made) : buffer(std::move(made)) {}

    BatchBuffer buffer;
    std::vector<uint32_t> indices;
    MicroBatch micro_batch;
    absl::Status status;
    int64_t holds = -1;  // the position that is loaded; guarded by mutex_
  };

  BatchLoader(Config config, const Dataset* data, Sampler sampler);

  // All micro-batches of a run in one row.
  int64_t PositionOf(int64_t step, int rank, int part) const;
  Slot& SlotOf(int64_t position) { return slots_[position % slots_.size()]; }
  // Says what the micro-batch at `position` is made of.
  void Describe(int64_t position, Slot* slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Without mutex_: the slot is this thread's.
  void Load(Slot* slot) const;
  void Serve();
  // Blocks until there is something to load; -1: the loader ends.
  int64_t Claim();
  void Deliver(int64_t position);
  void StartAt(int64_t position) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Constant after construction.
  const Config config_;
  const Dataset* const data_;
  const int64_t steps_per_epoch_;

  Mutex mutex_;
  CondVar changed_;
  Sampler sampler_ ABSL_GUARDED_BY(mutex_);
  int64_t lent_ ABSL_GUARDED_BY(mutex_);      // the position that Get was last asked for
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;  // to be loaded
  int busy_ ABSL_GUARDED_BY(mutex_) = 0;      // loading threads
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Slot> slots_;

  std::vector<std::thread> threads_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_BATCH_LOADER_H_
