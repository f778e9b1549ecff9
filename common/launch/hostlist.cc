#include "common/launch/hostlist.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// Longer numbers overflow, and no host is called that.
constexpr size_t kMaxDigits = 9;

absl::Status Malformed(absl::string_view what, absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(what, " \"", text, "\": ", why));
}

absl::Status BadHostlist(absl::string_view text, absl::string_view why) {
  return Malformed("host list", text, why);
}

bool ParseDigits(absl::string_view digits, int64_t* value) {
  return !digits.empty() && digits.size() <= kMaxDigits &&
         std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(digits, value);
}

std::string Padded(int64_t value, size_t width) {
  std::string digits = absl::StrCat(value);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

// "0-3,7" -> 0, 1, 2, 3, 7
absl::StatusOr<std::vector<std::string>> ExpandBracket(absl::string_view text,
                                                       absl::string_view inside) {
  std::vector<std::string> numbers;
  for (absl::string_view part : absl::StrSplit(inside, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(part, absl::MaxSplits('-', 1));
    const bool is_range = absl::StrContains(part, '-');
    int64_t first = 0;
    int64_t last = 0;
    if (!ParseDigits(ends.first, &first) || (is_range && !ParseDigits(ends.second, &last))) {
      return BadHostlist(text, absl::StrCat("\"", part, "\" in brackets is no number or range"));
    }
    if (!is_range) last = first;
    if (last < first) {
      return BadHostlist(text, absl::StrCat("the range \"", part, "\" runs backwards"));
    }
    if (last - first >= kMaxHostlistEntries - static_cast<int64_t>(numbers.size())) {
      return BadHostlist(text, absl::StrCat("more than ", kMaxHostlistEntries, " hosts"));
    }
    for (int64_t number = first; number <= last; ++number) {
      numbers.push_back(Padded(number, ends.first.size()));
    }
  }
  return numbers;
}

// Appends every choice to every name: earlier brackets vary slowest.
absl::StatusOr<std::vector<std::string>> Cross(absl::string_view text,
                                               const std::vector<std::string>& names,
                                               const std::vector<std::string>& choices) {
  if (names.size() * choices.size() > kMaxHostlistEntries) {
    return BadHostlist(text, absl::StrCat("more than ", kMaxHostlistEntries, " hosts"));
  }
  std::vector<std::string> crossed;
  crossed.reserve(names.size() * choices.size());
  for (const std::string& name : names) {
    for (const std::string& choice : choices) crossed.push_back(name + choice);
  }
  return crossed;
}

// One entry, without commas outside brackets: "gpu-a[001-003]-ib[0-1]".
absl::StatusOr<std::vector<std::string>> ExpandEntry(absl::string_view text,
                                                     absl::string_view entry) {
  std::vector<std::string> names = {""};
  while (!entry.empty()) {
    const size_t open = entry.find('[');
    const absl::string_view literal = entry.substr(0, open);
    for (std::string& name : names) absl::StrAppend(&name, literal);
    if (open == absl::string_view::npos) break;
    const size_t close = entry.find(']', open);  // SplitEntries has checked that it is there
    RINGSIDE_ASSIGN_OR_RETURN(const auto choices,
                              ExpandBracket(text, entry.substr(open + 1, close - open - 1)));
    RINGSIDE_ASSIGN_OR_RETURN(names, Cross(text, names, choices));
    entry.remove_prefix(close + 1);
  }
  return names;
}

// Splits at the commas outside brackets.
absl::StatusOr<std::vector<absl::string_view>> SplitEntries(absl::string_view text) {
  std::vector<absl::string_view> entries;
  bool in_bracket = false;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' && in_bracket) return BadHostlist(text, "brackets within brackets");
    if (c == ']' && !in_bracket) return BadHostlist(text, "\"]\" without \"[\"");
    if (c == '[' || c == ']') in_bracket = c == '[';
    if (!in_bracket && absl::ascii_isspace(c)) return BadHostlist(text, "blanks in it");
    if (c == ',' && !in_bracket) {
      entries.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  if (in_bracket) return BadHostlist(text, "\"[\" without \"]\"");
  entries.push_back(text.substr(start));
  return entries;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandHostlist(absl::string_view text) {
  RINGSIDE_ASSIGN_OR_RETURN(const auto entries, SplitEntries(text));
  std::vector<std::string> hosts;
  for (absl::string_view entry : entries) {
    if (entry.empty()) return BadHostlist(text, "an empty name");
    RINGSIDE_ASSIGN_OR_RETURN(const auto names, ExpandEntry(text, entry));
    if (hosts.size() + names.size() > kMaxHostlistEntries) {
      return BadHostlist(text, absl::StrCat("more than ", kMaxHostlistEntries, " hosts"));
    }
    hosts.insert(hosts.end(), names.begin(), names.end());
  }
  return hosts;
}

absl::StatusOr<std::vector<int>> ExpandTasksPerNode(absl::string_view text) {
  const auto bad = [text](absl::string_view why) { return Malformed("tasks per node", text, why); };
  std::vector<int> tasks;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    absl::string_view count = part;
    int64_t repeat = 1;
    const size_t open = part.find("(x");
    if (open != absl::string_view::npos) {
      absl::string_view times = part.substr(open + 2);
      if (!absl::ConsumeSuffix(&times, ")") || !ParseDigits(times, &repeat) || repeat < 1) {
        return bad(absl::StrCat("\"", part, "\" is not like \"2(x3)\""));
      }
      count = part.substr(0, open);
    }
    int64_t value = 0;
    if (!ParseDigits(count, &value)) {
      return bad(absl::StrCat("\"", part, "\" is not like \"2\" or \"2(x3)\""));
    }
    if (value > kMaxHostlistEntries ||
        repeat > kMaxHostlistEntries - static_cast<int64_t>(tasks.size())) {
      return bad(absl::StrCat("more than ", kMaxHostlistEntries, " tasks or nodes"));
    }
    tasks.insert(tasks.end(), repeat, static_cast<int>(value));
  }
  return tasks;
}

}  // namespace ringside
