// Words and their ids. Immutable after building, so safe to share between threads.
#ifndef RINGSIDE_WORKER_DATA_WORD_VOCABULARY_H_
#define RINGSIDE_WORKER_DATA_WORD_VOCABULARY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "absl/strings/string_view.h"
#include "worker/models/batch.h"

namespace ringside {

// Calls `on_word` for each word of a text, in order. A word is a run of letters, digits,
// apostrophes and bytes beyond ASCII, with A to Z in lower case; every other character but white
// space is a word of its own. "<br />" is white space, as reviews have it for a new line.
void ForEachWord(absl::string_view text, const std::function<void(const std::string&)>& on_word);

// How often each word was seen.
using WordCounts = std::unordered_map<std::string, int64_t>;

class WordVocabulary {
 public:
  static constexpr int64_t kUnknown = 1;  // 0 is kPaddingToken
  static constexpr int64_t kFirstWord = 2;

  // The most frequent words of `counts`, those of equal frequency by their bytes: a function of the
  // counts alone. `size`: ids are less, padding and unknown included; at least kFirstWord.
  WordVocabulary(const WordCounts& counts, int64_t size);

  // kUnknown where it has none.
  int64_t IdOf(const std::string& word) const;
  // SHA-256 in hexadecimal over all words in the order of their ids.
  const std::string& hash() const { return hash_; }

 private:
  std::unordered_map<std::string, int64_t> ids_;
  std::string hash_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_WORD_VOCABULARY_H_
