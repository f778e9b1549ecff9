// Photographs with a class for each pixel, in the layout of PASCAL VOC 2012's segmentation task,
// decoded, resized and normalised when they are fetched.
#ifndef RINGSIDE_WORKER_DATA_VOC_DATASET_H_
#define RINGSIDE_WORKER_DATA_VOC_DATASET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/dataset.h"

namespace ringside {

class VocDataset final : public Dataset {
 public:
  static constexpr int64_t kClasses = 21;  // 0 is the background; kIgnoredPixel is none

  // The images that ImageSets/Segmentation/train.txt (val.txt) of `folder` lists, one name a line:
  // JPEGImages/<name>.jpg and SegmentationClass/<name>.png, whose palette's indices are the labels.
  // They become rows x columns, labels by the nearest pixel. NOT_FOUND: a file is missing; says
  // what the layout is. INVALID_ARGUMENT: the list is empty.
  static absl::StatusOr<std::unique_ptr<Dataset>> Load(const std::string& folder, Split split,
                                                       int64_t rows, int64_t columns);

 private:
  VocDataset(std::string folder, std::vector<std::string> names, const SampleShape& shape);
  // Also INVALID_ARGUMENT: the two images differ in size, a label that is no class.
  absl::Status FetchSample(int64_t index, const SampleSpans& out) const override;

  const std::string folder_;
  const std::vector<std::string> names_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_VOC_DATASET_H_
