#include "worker/data/imdb_dataset.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "worker/data/data_files.h"

namespace ringside {
namespace {

constexpr char kLayout[] =
    "train/pos/*.txt, train/neg/*.txt, test/pos/*.txt and test/neg/*.txt, one review a file";
constexpr const char* kFolders[] = {"neg", "pos"};  // by label

// Calls `on_review` for each review, in the order of their names.
absl::Status ForEachReview(
    const std::string& folder, Split split,
    const std::function<void(uint8_t label, const std::string&)>& on_review) {
  for (uint8_t label = 0; label < 2; ++label) {
    const std::string place =
        absl::StrCat(split == Split::kTraining ? "train/" : "test/", kFolders[label]);
    const std::string path = absl::StrCat(folder, "/", place);
    const absl::StatusOr<std::vector<std::string>> names = FileNames(path);
    if (absl::IsNotFound(names.status())) {
      return MissingData(folder, absl::StrCat("has no folder ", place), kLayout);
    }
    RINGSIDE_RETURN_IF_ERROR(names.status());
    bool any = false;
    for (const std::string& name : *names) {
      if (!absl::EndsWith(name, ".txt")) continue;
      any = true;
      RINGSIDE_ASSIGN_OR_RETURN(const std::string text,
                                ReadDataFile(absl::StrCat(path, "/", name)));
      on_review(label, text);
    }
    if (!any) return MissingData(folder, absl::StrCat(place, " holds no .txt file"), kLayout);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ImdbDataset>> ImdbDataset::Load(const std::string& folder,
                                                               Split split, int64_t vocabulary_size,
                                                               int64_t length) {
  auto words = std::make_unique<WordList>();
  Reviews reviews;
  RINGSIDE_RETURN_IF_ERROR(
      ForEachReview(folder, split, [&](uint8_t label, const std::string& text) {
        int64_t seen = 0;
        ForEachWord(text, [&](const std::string& word) {
          const int32_t number = words->Add(word);
          if (seen++ < length) reviews.words.push_back(number);
        });
        reviews.begins.push_back(static_cast<int64_t>(reviews.words.size()));
        reviews.labels.push_back(label);
      }));
  return absl::WrapUnique(new ImdbDataset(std::move(words), std::move(reviews),
                                          SampleShape::Text(length, vocabulary_size, 2)));
}

ImdbDataset::ImdbDataset(std::unique_ptr<WordList> words, Reviews reviews, const SampleShape& shape)
    : Dataset(static_cast<int64_t>(reviews.labels.size()), shape),
      words_(std::move(words)),
      reviews_(std::move(reviews)) {}

WordVocabulary ImdbDataset::BuildVocabulary() const {
  RINGSIDE_CHECK(words_ != nullptr);
  return WordVocabulary(*words_, sample_shape().vocabulary);
}

void ImdbDataset::Translate(const WordVocabulary& vocabulary) {
  RINGSIDE_CHECK(words_ != nullptr);
  std::vector<int32_t> ids(words_->size());
  for (size_t number = 0; number < ids.size(); ++number) {
    ids[number] = static_cast<int32_t>(vocabulary.IdOf(words_->word(static_cast<int64_t>(number))));
  }
  for (int32_t& word : reviews_.words) word = ids[word];
  words_.reset();
}

absl::Status ImdbDataset::FetchSample(int64_t index, const SampleSpans& out) const {
  RINGSIDE_CHECK(words_ == nullptr);
  const auto begin = reviews_.words.begin() + reviews_.begins[index];
  const auto end = reviews_.words.begin() + reviews_.begins[index + 1];
  std::fill(std::copy(begin, end, out.tokens.begin()), out.tokens.end(), kPaddingToken);
  out.labels[0] = reviews_.labels[index];
  return absl::OkStatus();
}

}  // namespace ringside
