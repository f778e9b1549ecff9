// What a checkpoint says of the training that it was taken from. Pure.
#ifndef RINGSIDE_WORKER_CHECKPOINT_MANIFEST_H_
#define RINGSIDE_WORKER_CHECKPOINT_MANIFEST_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "checkpoint.pb.h"
#include "common/bucket_plan.h"
#include "common/checkpoint_file.h"
#include "common/config/job_config.h"
#include "common/learning_rate.h"
#include "common/parameter_spec.h"
#include "worker/synchronizers/update_state.h"

namespace ringside {

// Names of sections.
inline constexpr char kParametersSection[] = "parameters";
inline constexpr char kSkippedStepsSection[] = "skipped_steps";  // one int64
inline constexpr char kBuffersSection[] = "buffers";             // of floats
inline constexpr char kCountersSection[] = "counters";           // of int64
// "optimizer.sgd.0": the `index`-th of Optimizer::State().
std::string OptimizerSection(const std::string& optimizer, size_t index);

// The parameters and the state of the update as sections, in this order.
std::vector<StateSection> TrainedSections(absl::Span<float> parameters,
                                          const std::string& optimizer,
                                          const UpdateState& update_state);

// What a training must have in common with a checkpoint to go on from it: JobConfig's
// ResumeSettings, the hash of the bucket plan and the number of training samples.
std::map<std::string, std::string> ResumeSettings(const JobConfig& job, const BucketPlan& plan,
                                                  int64_t training_samples);

// How the global batch is cut: a setting of trainings whose model depends on it
// (Model::DependsOnCut), which beyond rounding go on as they were only if it stays. "4 workers x 1
// micro-batch x 8 samples".
inline constexpr char kBatchCut[] = "batch_cut";
std::string BatchCut(const JobConfig& job);

// Makes the manifests of one training. A value.
class ManifestMaker {
 public:
  // All of the parameters' list and the plan is copied; the job has been validated.
  ManifestMaker(const JobConfig& job, const BucketPlan& plan,
                const std::vector<ParameterSpec>& parameters, int64_t training_samples,
                Provenance provenance);

  // More that a training which goes on must have in common with this one.
  void AddSettings(const std::map<std::string, std::string>& settings);
  // Tensors of another section, e.g. the model's buffers, in ascending order of their offsets.
  void AddTensors(const std::vector<CheckpointTensor>& tensors);

  // Of the state after `step`, which counts from 1. Sections are for WriteCheckpointFile to add.
  CheckpointManifest After(int64_t step) const;

 private:
  CheckpointManifest constant_;
  LearningRateConfig schedule_;
  double base_rate_;
  int64_t samples_;
  int64_t global_batch_;
};

// FAILED_PRECONDITION: a setting differs; names it and both values, and of kBatchCut also why it
// matters and which flags it is made of.
absl::Status CheckSettings(const CheckpointManifest& manifest,
                           const std::map<std::string, std::string>& ours);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_CHECKPOINT_MANIFEST_H_
