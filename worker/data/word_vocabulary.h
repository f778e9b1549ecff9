// Words and their ids.
#ifndef RINGSIDE_WORKER_DATA_WORD_VOCABULARY_H_
#define RINGSIDE_WORKER_DATA_WORD_VOCABULARY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/models/batch.h"

namespace ringside {

// Calls `on_word` for each word of a text, in order. A word is a run of letters, digits,
// apostrophes and bytes beyond ASCII, with A to Z in lower case; every other character but white
// space is a word of its own. "<br />" is white space, as reviews have it for a new line.
void ForEachWord(absl::string_view text, const std::function<void(const std::string&)>& on_word);

// Words in the order in which they were met, and how often that was. Thread-compatible.
class WordList {
 public:
  // The number of the word, from 0.
  int32_t Add(const std::string& word);

  int64_t size() const { return static_cast<int64_t>(words_.size()); }
  const std::string& word(int64_t number) const { return *words_[number]; }
  int64_t count(int64_t number) const { return counts_[number]; }

 private:
  std::unordered_map<std::string, int32_t> numbers_;
  std::vector<const std::string*> words_;  // by number; keys of the map, which stay where they are
  std::vector<int64_t> counts_;            // by number
};

// Immutable after building, so safe to share between threads.
class WordVocabulary {
 public:
  static constexpr int64_t kUnknown = 1;  // 0 is kPaddingToken
  static constexpr int64_t kFirstWord = 2;

  // The most frequent words, those of equal frequency by their bytes: a function of the counts
  // alone. `size`: ids are less, padding and unknown included; at least kFirstWord.
  WordVocabulary(const WordList& words, int64_t size);

  // All words in the order of their ids, a line each, for Decode on another machine.
  const std::string& Encode() const { return text_; }
  // INVALID_ARGUMENT: `text` has more words than `size` allows, one twice, or one that ForEachWord
  // cannot have found, or is cut off.
  static absl::StatusOr<WordVocabulary> Decode(std::string text, int64_t size);

  // kUnknown where it has none.
  int64_t IdOf(const std::string& word) const;
  // SHA-256 in hexadecimal of Encode().
  std::string hash() const;

 private:
  WordVocabulary() = default;

  std::unordered_map<std::string, int64_t> ids_;
  std::string text_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_WORD_VOCABULARY_H_
