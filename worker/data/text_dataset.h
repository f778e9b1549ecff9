// Plain text for a language model: the tokens are the bytes of a file, and each is to tell the next
// one. Sequences do not overlap; the label at a sequence's last place is the first byte of the next
// sequence. The last sequence is filled up where the text ends: with zeros, and kIgnoredToken as
// labels.
#ifndef RINGSIDE_WORKER_DATA_TEXT_DATASET_H_
#define RINGSIDE_WORKER_DATA_TEXT_DATASET_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/data/dataset.h"

namespace ringside {

class TextDataset final : public Dataset {
 public:
  static constexpr int64_t kVocabulary = 256;

  // train.txt or test.txt of `folder`, in sequences of `length` bytes. NOT_FOUND: it is missing;
  // says which files the folder should hold. INVALID_ARGUMENT: it has less than two bytes.
  static absl::StatusOr<std::unique_ptr<Dataset>> Load(const std::string& folder, Split split,
                                                       int64_t length);

 private:
  TextDataset(std::string text, int64_t sequences, int64_t length);
  absl::Status FetchSample(int64_t index, const SampleSpans& out) const override;

  const std::string text_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_TEXT_DATASET_H_
