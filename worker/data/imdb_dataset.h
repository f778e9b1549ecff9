// Reviews in the layout of the IMDB data set (https://ai.stanford.edu/~amaas/data/sentiment): one
// file each, in a folder that tells whether it praises (label 1) or not (label 0).
#ifndef RINGSIDE_WORKER_DATA_IMDB_DATASET_H_
#define RINGSIDE_WORKER_DATA_IMDB_DATASET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/dataset.h"
#include "worker/data/word_vocabulary.h"

namespace ringside {

// The words of a review are numbers of the data set's own until Translate, which comes once and
// before the first Fetch; immutable from then on.
class ImdbDataset final : public Dataset {
 public:
  // Reads the reviews of one split, the first `length` words of each, filled up with kPaddingToken.
  // NOT_FOUND: a folder is missing or holds no review; says what the layout is. INVALID_ARGUMENT: a
  // file cannot be read.
  static absl::StatusOr<std::unique_ptr<ImdbDataset>> Load(const std::string& folder, Split split,
                                                           int64_t vocabulary_size, int64_t length);

  // Of all words of this split, with ids less than `vocabulary_size`. Before Translate.
  WordVocabulary BuildVocabulary() const;
  // Makes the words ids of `vocabulary`.
  void Translate(const WordVocabulary& vocabulary);

 private:
  // The words of review i are words[begins[i]] to words[begins[i + 1] - 1].
  struct Reviews {
    std::vector<int32_t> words;
    std::vector<int64_t> begins = {0};
    std::vector<uint8_t> labels;
  };

  ImdbDataset(std::unique_ptr<WordList> words, Reviews reviews, const SampleShape& shape);
  absl::Status FetchSample(int64_t index, const SampleSpans& out) const override;

  std::unique_ptr<const WordList> words_;  // until Translate
  Reviews reviews_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_IMDB_DATASET_H_
