// Tells which buckets are full while backward produces gradients: strictly in bucket order, so that
// all ranks submit alike.
//
// Pure and thread-compatible: no I/O, no clock. Nothing is allocated after construction.
#ifndef RINGSIDE_WORKER_MODELS_BUCKET_TRACKER_H_
#define RINGSIDE_WORKER_MODELS_BUCKET_TRACKER_H_

#include <functional>
#include <vector>

#include "common/bucket_plan.h"

namespace ringside {

class BucketTracker {
 public:
  // `emit` is called with the index of each bucket once a step, in ascending order; `full`, if
  // there is one, as soon as a bucket is full, whatever its predecessors are.
  BucketTracker(const BucketPlan& plan, std::function<void(int bucket)> emit,
                std::function<void(int bucket)> full = nullptr);

  // Begins a step: no parameter is ready.
  void Reset();
  // The gradient of a parameter (model order) is complete. Emits every bucket that is full by now
  // and whose predecessors have all been emitted. Each parameter at most once a step.
  void ParameterReady(int parameter);
  // After backward: emits the rest, which holds parameters that got no gradient this time.
  void Flush();

 private:
  const std::vector<int> bucket_of_parameter_;
  const std::vector<int> parameters_in_bucket_;
  const std::function<void(int)> emit_;
  const std::function<void(int)> full_;

  std::vector<int> missing_;  // parameters of each bucket that are not ready
  std::vector<char> ready_;   // by parameter
  int next_ = 0;              // first bucket that has not been emitted
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_BUCKET_TRACKER_H_
