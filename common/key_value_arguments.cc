#include "common/key_value_arguments.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace ringside {

KeyValueArguments::KeyValueArguments(absl::string_view flag, absl::string_view owner,
                                     absl::string_view text)
    : flag_(flag), owner_(owner) {
  if (text.empty()) return;
  std::string* current = nullptr;
  for (absl::string_view piece : absl::StrSplit(text, ',')) {
    const size_t equals = piece.find('=');
    if (equals == absl::string_view::npos) {
      if (current == nullptr) {
        Fail(piece, "must be key=value");
        return;
      }
      absl::StrAppend(current, ",", piece);
      continue;
    }
    const auto [place, is_new] =
        given_.emplace(std::string(piece.substr(0, equals)), std::string(piece.substr(equals + 1)));
    if (!is_new) Fail(piece, "was given before");
    current = &place->second;
  }
}

void KeyValueArguments::Integer(absl::string_view key, int64_t least, int64_t* value) {
  const std::string* text = Take(key);
  if (text == nullptr) return;
  int64_t number = 0;
  if (!absl::SimpleAtoi(*text, &number) || number < least) {
    return Fail(absl::StrCat(key, "=", *text),
                absl::StrCat("must be a whole number of at least ", least));
  }
  *value = number;
}

void KeyValueArguments::Number(absl::string_view key, double least, double* value) {
  const std::string* text = Take(key);
  if (text == nullptr) return;
  double number = 0;
  if (!absl::SimpleAtod(*text, &number) || !std::isfinite(number) || number < least) {
    return Fail(absl::StrCat(key, "=", *text),
                absl::StrCat("must be a number of at least ", least));
  }
  *value = number;
}

void KeyValueArguments::Text(absl::string_view key, std::string* value) {
  const std::string* text = Take(key);
  if (text != nullptr) *value = *text;
}

void KeyValueArguments::Choice(absl::string_view key, const std::vector<std::string>& choices,
                               std::string* value) {
  const std::string* text = Take(key);
  if (text == nullptr) return;
  if (std::find(choices.begin(), choices.end(), *text) == choices.end()) {
    return Fail(absl::StrCat(key, "=", *text),
                absl::StrCat("must be one of ", absl::StrJoin(choices, ", ")));
  }
  *value = *text;
}

void KeyValueArguments::Probability(absl::string_view key, double* value) {
  const std::string* text = Take(key);
  if (text == nullptr) return;
  double number = 0;
  if (!absl::SimpleAtod(*text, &number) || !(number >= 0 && number < 1)) {
    return Fail(absl::StrCat(key, "=", *text), "must be a number of at least 0 and less than 1");
  }
  *value = number;
}

void KeyValueArguments::Integers(absl::string_view key, int64_t least,
                                 std::vector<int64_t>* values) {
  const std::string* text = Take(key);
  if (text == nullptr) return;
  std::vector<int64_t> numbers;
  for (absl::string_view piece : absl::StrSplit(*text, ',', absl::SkipEmpty())) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(piece, &number) || number < least) {
      return Fail(absl::StrCat(key, "=", *text),
                  absl::StrCat("must be whole numbers of at least ", least));
    }
    numbers.push_back(number);
  }
  *values = std::move(numbers);
}

absl::Status KeyValueArguments::Finish() const {
  std::string problem = first_problem_;
  for (const auto& [key, value] : given_) {
    if (!problem.empty()) break;
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    problem = absl::StrCat("--", flag_, "=", key, "=", value, ": unknown");
  }
  if (problem.empty()) return absl::OkStatus();
  const std::string keys = known_.empty() ? "none" : absl::StrJoin(known_, ", ");
  return absl::InvalidArgumentError(absl::StrCat(problem, "; ", owner_, " has ", keys));
}

const std::string* KeyValueArguments::Take(absl::string_view key) {
  known_.emplace_back(key);
  const auto place = given_.find(std::string(key));
  return place == given_.end() ? nullptr : &place->second;
}

void KeyValueArguments::Fail(absl::string_view argument, absl::string_view problem) {
  if (first_problem_.empty()) {
    first_problem_ = absl::StrCat("--", flag_, "=", argument, ": ", problem);
  }
}

}  // namespace ringside
