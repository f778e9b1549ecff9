// Photographs in a folder for each class, decoded, resized and normalised when they are fetched.
#ifndef RINGSIDE_WORKER_DATA_IMAGE_FOLDER_DATASET_H_
#define RINGSIDE_WORKER_DATA_IMAGE_FOLDER_DATASET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/dataset.h"

namespace ringside {

class ImageFolderDataset final : public Dataset {
 public:
  // <folder>/train/<class>/*.{png,jpg,jpeg}, or test/ (val/ where there is no test/). Classes are
  // the folders of train/, numbered in the order of their names; images become rows x columns.
  // NOT_FOUND: a folder is missing or holds no image; says what the layout is. INVALID_ARGUMENT:
  // test/ has a folder that is no class of train/.
  static absl::StatusOr<std::unique_ptr<Dataset>> Load(const std::string& folder, Split split,
                                                       int64_t rows, int64_t columns);

 private:
  struct Photograph {
    std::string path;
    int64_t label;
  };

  ImageFolderDataset(std::vector<Photograph> photographs, const SampleShape& shape);
  absl::Status FetchSample(int64_t index, const SampleSpans& out) const override;

  static absl::StatusOr<std::vector<Photograph>> List(const std::string& folder,
                                                      const std::string& split,
                                                      const std::vector<std::string>& classes);

  const std::vector<Photograph> photographs_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_IMAGE_FOLDER_DATASET_H_
