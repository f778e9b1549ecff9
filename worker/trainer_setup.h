// From a worker's configuration to its trainer.
#ifndef RINGSIDE_WORKER_TRAINER_SETUP_H_
#define RINGSIDE_WORKER_TRAINER_SETUP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "common/trace/trace_buffer.h"
#include "worker/trainer.h"
#include "worker/worker_config.h"
#include "worker/workload.h"

namespace ringside {

// `workload` and `trace`, which may be null, are borrowed and must outlive the trainer. Errors:
// those of Trainer::Create; INVALID_ARGUMENT: --stragglers cannot be read.
absl::StatusOr<std::unique_ptr<Trainer>> MakeTrainer(const WorkerConfig& config,
                                                     const Workload& workload, TraceBuffer* trace);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_TRAINER_SETUP_H_
