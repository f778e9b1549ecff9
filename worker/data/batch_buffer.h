// Memory for a batch of samples of one shape. Thread-compatible.
#ifndef RINGSIDE_WORKER_DATA_BATCH_BUFFER_H_
#define RINGSIDE_WORKER_DATA_BATCH_BUFFER_H_

#include <cstdint>
#include <vector>

#include "worker/data/dataset.h"
#include "worker/models/batch.h"

namespace ringside {

class BatchBuffer {
 public:
  BatchBuffer(const SampleShape& shape, int64_t most_samples);

  // The first `samples` of it, at most most_samples: to be written and to be read. Valid as long as
  // the buffer lives.
  SampleSpans spans(int64_t samples);
  Batch batch(int64_t samples) const;

 private:
  int64_t image_elements_;  // of a sample; 0: it is tokens
  int64_t length_;          // of a sample; 0: it is an image
  int64_t labels_per_sample_;
  std::vector<float> images_;
  std::vector<int64_t> tokens_;
  std::vector<int64_t> labels_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_BATCH_BUFFER_H_
