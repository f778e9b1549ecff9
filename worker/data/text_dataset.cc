#include "worker/data/text_dataset.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/data/data_files.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<Dataset>> TextDataset::Load(const std::string& folder, Split split,
                                                           int64_t length) {
  const std::string name = split == Split::kTraining ? "train.txt" : "test.txt";
  const std::string path = absl::StrCat(folder, "/", name);
  absl::StatusOr<std::string> text = ReadDataFile(path);
  if (absl::IsNotFound(text.status())) {
    return MissingData(folder, absl::StrCat("has no ", name), "train.txt and test.txt, plain text");
  }
  RINGSIDE_RETURN_IF_ERROR(text.status());
  const auto bytes = static_cast<int64_t>(text->size());
  if (bytes < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has ", bytes, " bytes; must have at least 2"));
  }
  // Of all bytes but the last, which nothing follows, so that every sequence has a label.
  const int64_t sequences = (bytes - 2) / length + 1;
  return absl::WrapUnique<Dataset>(new TextDataset(*std::move(text), sequences, length));
}

TextDataset::TextDataset(std::string text, int64_t sequences, int64_t length)
    : Dataset(sequences, SampleShape::Language(length, kVocabulary)), text_(std::move(text)) {}

absl::Status TextDataset::FetchSample(int64_t index, const SampleSpans& out) const {
  const int64_t length = sample_shape().length;
  const auto bytes = static_cast<int64_t>(text_.size());
  for (int64_t i = 0; i < length; ++i) {
    const int64_t place = index * length + i;
    out.tokens[i] = place < bytes ? static_cast<uint8_t>(text_[place]) : kPaddingToken;
    out.labels[i] = place + 1 < bytes ? static_cast<uint8_t>(text_[place + 1]) : kIgnoredToken;
  }
  return absl::OkStatus();
}

}  // namespace ringside
