#include "worker/data/word_vocabulary.h"

#include <algorithm>
#include <utility>
#include <vector>

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

WordVocabulary::WordVocabulary(const WordCounts& counts, int64_t size) {
  std::vector<std::pair<int64_t, const std::string*>> ranking;
  ranking.reserve(counts.size());
  for (const auto& [word, count] : counts) ranking.emplace_back(count, &word);
  std::sort(ranking.begin(), ranking.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : *a.second < *b.second;
  });
  const auto words = std::min(static_cast<int64_t>(ranking.size()), size - kFirstWord);
  std::string list;
  for (int64_t i = 0; i < words; ++i) {
    ids_.emplace(*ranking[i].second, kFirstWord + i);
    absl::StrAppend(&list, *ranking[i].second, "\n");
  }
  hash_ = Sha256Hex(list);
}

int64_t WordVocabulary::IdOf(const std::string& word) const {
  const auto place = ids_.find(word);
  return place == ids_.end() ? kUnknown : place->second;
}

}  // namespace ringside
