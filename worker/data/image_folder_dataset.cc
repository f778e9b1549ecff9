#include "worker/data/image_folder_dataset.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "worker/data/data_files.h"
#include "worker/data/image_codec.h"
#include "worker/data/image_resize.h"

namespace ringside {
namespace {

constexpr char kLayout[] =
    "train/<class>/ and test/<class>/ (or val/<class>/), a folder a class, with .png, .jpg or "
    ".jpeg files";

bool IsImage(const std::string& name) {
  return absl::EndsWithIgnoreCase(name, ".png") || absl::EndsWithIgnoreCase(name, ".jpg") ||
         absl::EndsWithIgnoreCase(name, ".jpeg");
}

// The folders of `split`, at least one.
absl::StatusOr<std::vector<std::string>> ClassesOf(const std::string& folder,
                                                   const std::string& split) {
  absl::StatusOr<std::vector<std::string>> classes = FolderNames(absl::StrCat(folder, "/", split));
  if (absl::IsNotFound(classes.status())) {
    return MissingData(folder, absl::StrCat("has no folder ", split), kLayout);
  }
  if (classes.ok() && classes->empty()) {
    return MissingData(folder, absl::StrCat(split, " holds no folder"), kLayout);
  }
  return classes;
}

// test/ where there is one, else val/.
std::string TestFolder(const std::string& folder) {
  return FolderNames(absl::StrCat(folder, "/test")).ok() ||
                 !FolderNames(absl::StrCat(folder, "/val")).ok()
             ? "test"
             : "val";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Dataset>> ImageFolderDataset::Load(const std::string& folder,
                                                                  Split split, int64_t rows,
                                                                  int64_t columns) {
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<std::string> classes, ClassesOf(folder, "train"));
  RINGSIDE_ASSIGN_OR_RETURN(
      std::vector<Photograph> photographs,
      List(folder, split == Split::kTraining ? "train" : TestFolder(folder), classes));
  return absl::WrapUnique<Dataset>(new ImageFolderDataset(
      std::move(photographs),
      SampleShape::Image(3, rows, columns, static_cast<int64_t>(classes.size()))));
}

absl::StatusOr<std::vector<ImageFolderDataset::Photograph>> ImageFolderDataset::List(
    const std::string& folder, const std::string& split, const std::vector<std::string>& classes) {
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<std::string> found, ClassesOf(folder, split));
  std::vector<Photograph> photographs;
  for (const std::string& name : found) {
    const auto place = std::find(classes.begin(), classes.end(), name);
    if (place == classes.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--data_dir=", folder, ": ", split, "/", name,
          " is no class: train/ has no such folder, only ", absl::StrJoin(classes, ", ")));
    }
    const std::string path = absl::StrCat(folder, "/", split, "/", name);
    RINGSIDE_ASSIGN_OR_RETURN(const std::vector<std::string> files, FileNames(path));
    const size_t before = photographs.size();
    for (const std::string& file : files) {
      if (!IsImage(file)) continue;
      photographs.push_back({absl::StrCat(path, "/", file), place - classes.begin()});
    }
    if (photographs.size() == before) {
      return MissingData(folder, absl::StrCat(split, "/", name, " holds no image"), kLayout);
    }
  }
  return photographs;
}

ImageFolderDataset::ImageFolderDataset(std::vector<Photograph> photographs,
                                       const SampleShape& shape)
    : Dataset(static_cast<int64_t>(photographs.size()), shape),
      photographs_(std::move(photographs)) {}

absl::Status ImageFolderDataset::FetchSample(int64_t index, const SampleSpans& out) const {
  const Photograph& photograph = photographs_[index];
  RINGSIDE_ASSIGN_OR_RETURN(const std::string bytes, ReadDataFile(photograph.path));
  RINGSIDE_ASSIGN_OR_RETURN(const ByteImage image, DecodeImage(photograph.path, bytes));
  ResizeBilinear(image, sample_shape().rows, sample_shape().columns, PhotographScale(), out.images);
  out.labels[0] = photograph.label;
  return absl::OkStatus();
}

}  // namespace ringside
