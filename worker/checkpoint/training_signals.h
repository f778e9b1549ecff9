// What signals ask of a training: set by the thread that waits for them, read between two steps.
#ifndef RINGSIDE_WORKER_CHECKPOINT_TRAINING_SIGNALS_H_
#define RINGSIDE_WORKER_CHECKPOINT_TRAINING_SIGNALS_H_

#include <atomic>

namespace ringside {

// Thread-safe.
struct TrainingSignals {
  std::atomic<bool> save{false};  // SIGUSR1: write a checkpoint after this step, and go on
  std::atomic<bool> end{false};   // SIGTERM: write one and end
  // Somebody looks at `end` soon. Else whoever gets SIGTERM ends the process at once.
  std::atomic<bool> heeded{false};
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_CHECKPOINT_TRAINING_SIGNALS_H_
