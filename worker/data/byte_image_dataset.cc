#include "worker/data/byte_image_dataset.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<Dataset>> ByteImageDataset::Create(const std::string& name,
                                                                  const SampleShape& shape,
                                                                  const ChannelScale& scale,
                                                                  std::vector<uint8_t> pixels,
                                                                  std::vector<uint8_t> labels) {
  const int64_t elements = shape.input_elements();
  if (labels.empty() || elements < 1) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": holds no images"));
  }
  const int64_t images = static_cast<int64_t>(pixels.size()) / elements;
  if (images * elements != static_cast<int64_t>(pixels.size()) ||
      images != static_cast<int64_t>(labels.size())) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", images, " images but ",
                                                   labels.size(),
                                                   " labels; there must be one label an image"));
  }
  const auto wrong = std::find_if(labels.begin(), labels.end(),
                                  [&](uint8_t label) { return label >= shape.classes; });
  if (wrong != labels.end()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": label ", static_cast<int>(*wrong),
                                                   " of image ", wrong - labels.begin(),
                                                   "; labels go from 0 to ", shape.classes - 1));
  }
  return absl::WrapUnique<Dataset>(
      new ByteImageDataset(shape, scale, std::move(pixels), std::move(labels)));
}

ByteImageDataset::ByteImageDataset(const SampleShape& shape, const ChannelScale& scale,
                                   std::vector<uint8_t> pixels, std::vector<uint8_t> labels)
    : Dataset(static_cast<int64_t>(labels.size()), shape),
      normalised_(shape.channels),
      pixels_(std::move(pixels)),
      labels_(std::move(labels)) {
  for (int64_t channel = 0; channel < shape.channels; ++channel) {
    for (int value = 0; value < 256; ++value) {
      normalised_[channel][value] =
          (static_cast<float>(value) / 255.0f - scale.means[channel]) / scale.deviations[channel];
    }
  }
}

absl::Status ByteImageDataset::FetchSample(int64_t index, const SampleSpans& out) const {
  const int64_t plane = sample_shape().rows * sample_shape().columns;
  const uint8_t* pixel = pixels_.data() + index * sample_shape().input_elements();
  float* target = out.images.data();
  for (const std::array<float, 256>& normalised : normalised_) {
    for (int64_t k = 0; k < plane; ++k) *target++ = normalised[*pixel++];
  }
  out.labels[0] = labels_[index];
  return absl::OkStatus();
}

}  // namespace ringside
