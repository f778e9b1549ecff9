#include "worker/models/model_arguments.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace ringside {

ModelArguments::ModelArguments(absl::string_view model, absl::string_view text) : model_(model) {
  if (text.empty()) return;
  std::string* current = nullptr;
  for (absl::string_view piece : absl::StrSplit(text, ',')) {
    const size_t equals = piece.find('=');
    if (equals == absl::string_view::npos) {
      if (current == nullptr) {
        Fail(piece, "", "must be key=value");
        return;
      }
      absl::StrAppend(current, ",", piece);
      continue;
    }
    const absl::string_view key = piece.substr(0, equals);
    const absl::string_view value = piece.substr(equals + 1);
    const auto [place, is_new] = given_.emplace(std::string(key), std::string(value));
    if (!is_new) Fail(key, value, "was given before");
    current = &place->second;
  }
}

void ModelArguments::Integer(absl::string_view key, int64_t least, int64_t* value) {
  const std::string* text = Take(key);
  if (text == nullptr) return;
  int64_t number = 0;
  if (!absl::SimpleAtoi(*text, &number) || number < least) {
    return Fail(key, *text, absl::StrCat("must be a whole number of at least ", least));
  }
  *value = number;
}

void ModelArguments::Number(absl::string_view key, double least, double* value) {
  const std::string* text = Take(key);
  if (text == nullptr) return;
  double number = 0;
  if (!absl::SimpleAtod(*text, &number) || !std::isfinite(number) || number < least) {
    return Fail(key, *text, absl::StrCat("must be a number of at least ", least));
  }
  *value = number;
}

void ModelArguments::Text(absl::string_view key, std::string* value) {
  const std::string* text = Take(key);
  if (text != nullptr) *value = *text;
}

void ModelArguments::Choice(absl::string_view key, const std::vector<std::string>& choices,
                            std::string* value) {
  const std::string* text = Take(key);
  if (text == nullptr) return;
  if (std::find(choices.begin(), choices.end(), *text) == choices.end()) {
    return Fail(key, *text, absl::StrCat("must be one of ", absl::StrJoin(choices, ", ")));
  }
  *value = *text;
}

void ModelArguments::Probability(absl::string_view key, double* value) {
  const std::string* text = Take(key);
  if (text == nullptr) return;
  double number = 0;
  if (!absl::SimpleAtod(*text, &number) || !(number >= 0 && number < 1)) {
    return Fail(key, *text, "must be a number of at least 0 and less than 1");
  }
  *value = number;
}

void ModelArguments::Integers(absl::string_view key, int64_t least, std::vector<int64_t>* values) {
  const std::string* text = Take(key);
  if (text == nullptr) return;
  std::vector<int64_t> numbers;
  for (absl::string_view piece : absl::StrSplit(*text, ',', absl::SkipEmpty())) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(piece, &number) || number < least) {
      return Fail(key, *text, absl::StrCat("must be whole numbers of at least ", least));
    }
    numbers.push_back(number);
  }
  *values = std::move(numbers);
}

absl::Status ModelArguments::Finish() const {
  std::string problem = first_problem_;
  for (const auto& [key, value] : given_) {
    if (!problem.empty()) break;
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    problem = absl::StrCat("--model_args=", key, "=", value, ": unknown");
  }
  if (problem.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(problem, "; --model=", model_, " has ", absl::StrJoin(known_, ", ")));
}

const std::string* ModelArguments::Take(absl::string_view key) {
  known_.emplace_back(key);
  const auto place = given_.find(std::string(key));
  return place == given_.end() ? nullptr : &place->second;
}

void ModelArguments::Fail(absl::string_view key, absl::string_view value,
                          absl::string_view problem) {
  if (!first_problem_.empty()) return;
  first_problem_ =
      absl::StrCat("--model_args=", key, value.empty() ? "" : "=", value, ": ", problem);
}

}  // namespace ringside
