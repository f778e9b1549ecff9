// Images with one label each that lie in memory as bytes and become normalised floats when they are
// fetched: (pixel / 255 - mean) / deviation, with the mean and deviation of their channel.
#ifndef RINGSIDE_WORKER_DATA_BYTE_IMAGE_DATASET_H_
#define RINGSIDE_WORKER_DATA_BYTE_IMAGE_DATASET_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/dataset.h"

namespace ringside {

// One of each for every channel.
struct ChannelScale {
  std::vector<float> means;
  std::vector<float> deviations;
};

class ByteImageDataset final : public Dataset {
 public:
  // `pixels`: images x channels x rows x columns. `name` appears in errors. INVALID_ARGUMENT: no
  // images, a label count that differs from the image count, a label that is no class.
  static absl::StatusOr<std::unique_ptr<Dataset>> Create(const std::string& name,
                                                         const SampleShape& shape,
                                                         const ChannelScale& scale,
                                                         std::vector<uint8_t> pixels,
                                                         std::vector<uint8_t> labels);

 private:
  ByteImageDataset(const SampleShape& shape, const ChannelScale& scale, std::vector<uint8_t> pixels,
                   std::vector<uint8_t> labels);
  absl::Status FetchSample(int64_t index, const SampleSpans& out) const override;

  std::vector<std::array<float, 256>> normalised_;  // by channel and pixel
  std::vector<uint8_t> pixels_;
  std::vector<uint8_t> labels_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_BYTE_IMAGE_DATASET_H_
