// A labelled set of samples, from which batches are fetched.
//
// What the files hold is kept in memory as compactly as they have it, or read when it is fetched
// where it would not fit; samples become floats or tokens a batch at a time. Immutable after
// loading, so safe to share between threads.
#ifndef RINGSIDE_WORKER_DATA_DATASET_H_
#define RINGSIDE_WORKER_DATA_DATASET_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/models/batch.h"

namespace ringside {

enum class Split { kTraining, kTest };

// Where samples are written to, one after another; owned by the caller. Of images and tokens, the
// one that the samples do not have is empty.
struct SampleSpans {
  absl::Span<float> images;
  absl::Span<int64_t> tokens;
  absl::Span<int64_t> labels;
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  int64_t size() const { return size_; }
  const SampleShape& sample_shape() const { return shape_; }

  // Writes the samples at `indices`, each less than size(), in this order. `out` has
  // sample_shape().input_elements() and label_elements() a sample. A sample is the same bits
  // whenever and wherever it is fetched. INVALID_ARGUMENT, naming the file: a file that is read
  // only now is damaged. NOT_FOUND: it is gone.
  absl::Status Fetch(absl::Span<const uint32_t> indices, const SampleSpans& out) const;

 protected:
  Dataset(int64_t size, const SampleShape& shape) : size_(size), shape_(shape) {}

 private:
  // `out` has room for exactly one sample.
  virtual absl::Status FetchSample(int64_t index, const SampleSpans& out) const = 0;

  const int64_t size_;
  const SampleShape shape_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_DATASET_H_
