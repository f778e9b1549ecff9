#include "worker/data/word_vocabulary.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/sha256.h"

namespace ringside {
namespace {

constexpr absl::string_view kNewLine = "<br />";

bool BelongsToWord(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) || c == '\'' || byte >= 0x80;
}

}  // namespace

void ForEachWord(absl::string_view text, const std::function<void(const std::string&)>& on_word) {
  std::string word;
  while (!text.empty()) {
    size_t length = 0;
    while (length < text.size() && BelongsToWord(text[length])) ++length;
    if (length > 0) {
      word.assign(text.data(), length);
      absl::AsciiStrToLower(&word);
      on_word(word);
    } else if (absl::StartsWith(text, kNewLine)) {
      length = kNewLine.size();
    } else {
      length = 1;
      if (!absl::ascii_isspace(static_cast<unsigned char>(text[0]))) {
        word.assign(1, text[0]);
        on_word(word);
      }
    }
    text.remove_prefix(length);
  }
}

int32_t WordList::Add(const std::string& word) {
  const auto [place, is_new] = numbers_.emplace(word, static_cast<int32_t>(words_.size()));
  if (is_new) {
    words_.push_back(&place->first);
    counts_.push_back(0);
  }
  ++counts_[place->second];
  return place->second;
}

WordVocabulary::WordVocabulary(const WordList& words, int64_t size) {
  std::vector<int64_t> ranking(words.size());
  std::iota(ranking.begin(), ranking.end(), int64_t{0});
  std::sort(ranking.begin(), ranking.end(), [&words](int64_t a, int64_t b) {
    return words.count(a) != words.count(b) ? words.count(a) > words.count(b)
                                            : words.word(a) < words.word(b);
  });
  ranking.resize(std::min(words.size(), size - kFirstWord));
  for (int64_t number : ranking) {
    ids_.emplace(words.word(number), kFirstWord + static_cast<int64_t>(ids_.size()));
    absl::StrAppend(&text_, words.word(number), "\n");
  }
}

absl::StatusOr<WordVocabulary> WordVocabulary::Decode(std::string text, int64_t size) {
  WordVocabulary vocabulary;
  for (absl::string_view rest = text; !rest.empty();) {
    const size_t end = rest.find('\n');
    if (end == 0 || end == absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("word ", vocabulary.ids_.size(), end == 0 ? " is empty" : " is cut off"));
    }
    const std::string word(rest.substr(0, end));
    const auto id = kFirstWord + static_cast<int64_t>(vocabulary.ids_.size());
    if (id >= size) {
      return absl::InvalidArgumentError(
          absl::StrCat("has more words than the ", size - kFirstWord, " that it may have"));
    }
    if (!vocabulary.ids_.emplace(word, id).second) {
      return absl::InvalidArgumentError(absl::StrCat("has \"", word, "\" twice"));
    }
    rest.remove_prefix(end + 1);
  }
  vocabulary.text_ = std::move(text);
  return vocabulary;
}

int64_t WordVocabulary::IdOf(const std::string& word) const {
  const auto place = ids_.find(word);
  return place == ids_.end() ? kUnknown : place->second;
}

std::string WordVocabulary::hash() const { return Sha256Hex(text_); }

}  // namespace ringside
