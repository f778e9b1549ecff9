#include "worker/data/batch_buffer.h"

namespace ringside {

BatchBuffer::BatchBuffer(const SampleShape& shape, int64_t most_samples)
    : image_elements_(shape.input == SampleShape::Input::kImage ? shape.input_elements() : 0),
      length_(shape.input == SampleShape::Input::kImage ? 0 : shape.input_elements()),
      labels_per_sample_(shape.label_elements()),
      images_(most_samples * image_elements_),
      tokens_(most_samples * length_),
      labels_(most_samples * labels_per_sample_) {}

SampleSpans BatchBuffer::spans(int64_t samples) {
  return {absl::MakeSpan(images_).subspan(0, samples * image_elements_),
          absl::MakeSpan(tokens_).subspan(0, samples * length_),
          absl::MakeSpan(labels_).subspan(0, samples * labels_per_sample_)};
}

Batch BatchBuffer::batch(int64_t samples) const {
  Batch batch;
  batch.images = absl::MakeConstSpan(images_).subspan(0, samples * image_elements_);
  batch.tokens = absl::MakeConstSpan(tokens_).subspan(0, samples * length_);
  batch.labels = absl::MakeConstSpan(labels_).subspan(0, samples * labels_per_sample_);
  batch.labels_per_sample = labels_per_sample_;
  return batch;
}

}  // namespace ringside
