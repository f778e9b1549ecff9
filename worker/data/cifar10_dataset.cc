#include "worker/data/cifar10_dataset.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/data/byte_image_dataset.h"
#include "worker/data/data_files.h"

namespace ringside {
namespace {

constexpr int64_t kExtent = 32;
constexpr int64_t kClasses = 10;
constexpr int64_t kPixels = 3 * kExtent * kExtent;
constexpr int64_t kRecordBytes = 1 + kPixels;
constexpr char kLayout[] =
    "data_batch_1.bin to data_batch_5.bin and test_batch.bin of CIFAR-10's binary version";

std::vector<std::string> FilesOf(Split split) {
  if (split == Split::kTest) return {"test_batch.bin"};
  std::vector<std::string> names;
  for (int i = 1; i <= 5; ++i) names.push_back(absl::StrCat("data_batch_", i, ".bin"));
  return names;
}

absl::Status Append(const std::string& path, const std::string& bytes, std::vector<uint8_t>* pixels,
                    std::vector<uint8_t>* labels) {
  const auto length = static_cast<int64_t>(bytes.size());
  if (length % kRecordBytes != 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": has ", length,
                                                   " bytes; must be a multiple of ", kRecordBytes,
                                                   ", the bytes of a record"));
  }
  for (int64_t begin = 0; begin < length; begin += kRecordBytes) {
    const auto label = static_cast<uint8_t>(bytes[begin]);
    if (label >= kClasses) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": label ", static_cast<int>(label),
                                                     " of record ", begin / kRecordBytes,
                                                     "; labels go from 0 to ", kClasses - 1));
    }
    labels->push_back(label);
    pixels->insert(pixels->end(), bytes.begin() + begin + 1, bytes.begin() + begin + kRecordBytes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Dataset>> LoadCifar10(const std::string& folder, Split split) {
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> labels;
  for (const std::string& name : FilesOf(split)) {
    const std::string path = absl::StrCat(folder, "/", name);
    const absl::StatusOr<std::string> bytes = ReadDataFile(path);
    if (absl::IsNotFound(bytes.status())) {
      return MissingData(folder, absl::StrCat("has no ", name), kLayout);
    }
    RINGSIDE_RETURN_IF_ERROR(bytes.status());
    RINGSIDE_RETURN_IF_ERROR(Append(path, *bytes, &pixels, &labels));
  }
  return ByteImageDataset::Create(folder, SampleShape::Image(3, kExtent, kExtent, kClasses),
                                  {{0.4914f, 0.4822f, 0.4465f}, {0.2470f, 0.2435f, 0.2616f}},
                                  std::move(pixels), std::move(labels));
}

}  // namespace ringside
