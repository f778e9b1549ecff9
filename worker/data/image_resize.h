// Brings images to the size that a model takes. Both map the centre of a target pixel to the place
// in the source that has the same proportions. Stateless, so safe from any thread.
#ifndef RINGSIDE_WORKER_DATA_IMAGE_RESIZE_H_
#define RINGSIDE_WORKER_DATA_IMAGE_RESIZE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "worker/data/byte_image_dataset.h"
#include "worker/data/image_codec.h"

namespace ringside {

// Interpolates between the four nearest pixels (no more of them, also where the image shrinks) and
// normalises: (value / 255 - mean) / deviation. `out`: channels x rows x columns.
void ResizeBilinear(const ByteImage& image, int64_t rows, int64_t columns,
                    const ChannelScale& scale, absl::Span<float> out);

// Takes the nearest pixel, for labels. `image` has one channel; `out`: rows x columns.
void ResizeNearest(const ByteImage& image, int64_t rows, int64_t columns, absl::Span<int64_t> out);

// The mean and deviation of ImageNet's training set, by channel: what is customary for photographs.
const ChannelScale& PhotographScale();

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_IMAGE_RESIZE_H_
