// What a shard learns from the workers when all have joined: the settings that they agree on. Pure.
#ifndef RINGSIDE_PS_SERVER_SHARD_SETTINGS_H_
#define RINGSIDE_PS_SERVER_SHARD_SETTINGS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/learning_rate.h"
#include "common/optimizer.h"
#include "common/ps_policy.h"
#include "common/step_window.h"
#include "coordinator.pb.h"

namespace ringside {

struct ShardSettings {
  int64_t first_bucket_bytes = 0;
  int64_t bucket_bytes = 0;
  int64_t frame_bytes = 0;
  PsPolicy policy;
  OptimizerConfig optimizer;
  LearningRateConfig learning_rate;
  int64_t full_batch = 0;  // samples of a step of all workers
  int64_t snapshot_steps = 0;
  bool saves_training = false;  // worker 0 does, when it is told to end
  int64_t resumed_step = 0;     // of the checkpoint that the workers go on from; 0: none
  StepWindow traced;            // empty: no steps are
};

// FAILED_PRECONDITION: the workers do not say a setting, or not in a way that can be read; names
// it. INVALID_ARGUMENT: optimizer or schedule are not valid.
absl::StatusOr<ShardSettings> ReadShardSettings(const Membership& membership);

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SHARD_SETTINGS_H_
