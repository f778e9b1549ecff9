#include "worker/data/voc_dataset.h"

#include <unistd.h>

#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "worker/data/data_files.h"
#include "worker/data/image_codec.h"
#include "worker/data/image_resize.h"

namespace ringside {
namespace {

constexpr char kLayout[] =
    "ImageSets/Segmentation/train.txt and val.txt, and for each name in them "
    "JPEGImages/<name>.jpg and SegmentationClass/<name>.png";

std::string PhotographOf(const std::string& name) {
  return absl::StrCat("JPEGImages/", name, ".jpg");
}
std::string LabelsOf(const std::string& name) {
  return absl::StrCat("SegmentationClass/", name, ".png");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Dataset>> VocDataset::Load(const std::string& folder, Split split,
                                                          int64_t rows, int64_t columns) {
  const std::string list =
      absl::StrCat("ImageSets/Segmentation/", split == Split::kTraining ? "train.txt" : "val.txt");
  const absl::StatusOr<std::string> text = ReadDataFile(absl::StrCat(folder, "/", list));
  if (absl::IsNotFound(text.status())) {
    return MissingData(folder, absl::StrCat("has no ", list), kLayout);
  }
  RINGSIDE_RETURN_IF_ERROR(text.status());
  std::vector<std::string> names;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    const absl::string_view name = absl::StripAsciiWhitespace(line);
    if (!name.empty()) names.emplace_back(name);
  }
  if (names.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder, "/", list, ": lists no images; must have one name a line"));
  }
  for (const std::string& name : names) {
    for (const std::string& file : {PhotographOf(name), LabelsOf(name)}) {
      if (access(absl::StrCat(folder, "/", file).c_str(), F_OK) == 0) continue;
      return MissingData(folder, absl::StrCat("has no ", file, ", though ", list, " lists it"),
                         kLayout);
    }
  }
  return absl::WrapUnique<Dataset>(new VocDataset(
      folder, std::move(names), SampleShape::Segmentation(3, rows, columns, kClasses)));
}

VocDataset::VocDataset(std::string folder, std::vector<std::string> names, const SampleShape& shape)
    : Dataset(static_cast<int64_t>(names.size()), shape),
      folder_(std::move(folder)),
      names_(std::move(names)) {}

absl::Status VocDataset::FetchSample(int64_t index, const SampleSpans& out) const {
  const int64_t rows = sample_shape().rows;
  const int64_t columns = sample_shape().columns;
  const std::string photograph_path = absl::StrCat(folder_, "/", PhotographOf(names_[index]));
  const std::string labels_path = absl::StrCat(folder_, "/", LabelsOf(names_[index]));
  RINGSIDE_ASSIGN_OR_RETURN(const std::string photograph_bytes, ReadDataFile(photograph_path));
  RINGSIDE_ASSIGN_OR_RETURN(const ByteImage photograph,
                            DecodeImage(photograph_path, photograph_bytes));
  RINGSIDE_ASSIGN_OR_RETURN(const std::string labels_bytes, ReadDataFile(labels_path));
  RINGSIDE_ASSIGN_OR_RETURN(const ByteImage labels, DecodeIndices(labels_path, labels_bytes));
  if (labels.rows != photograph.rows || labels.columns != photograph.columns) {
    return absl::InvalidArgumentError(absl::StrCat(
        labels_path, ": labels of ", labels.rows, "x", labels.columns, " pixels; must be ",
        photograph.rows, "x", photograph.columns, " as ", photograph_path));
  }
  for (uint8_t label : labels.bytes) {
    if (label < kClasses || label == kIgnoredPixel) continue;
    return absl::InvalidArgumentError(absl::StrCat(labels_path, ": label ", static_cast<int>(label),
                                                   "; must be 0 to ", kClasses - 1, ", or ",
                                                   kIgnoredPixel));
  }
  ResizeBilinear(photograph, rows, columns, PhotographScale(), out.images);
  ResizeNearest(labels, rows, columns, out.labels);
  return absl::OkStatus();
}

}  // namespace ringside
