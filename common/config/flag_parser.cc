#include "common/config/flag_parser.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ringside {
namespace {

// Abseil's own flags (flagfile, undefok, ...) are not offered: this parser does not act on them.
bool IsOurs(const absl::CommandLineFlag& flag) {
  return !absl::StrContains(flag.Filename(), "absl/flags");
}

size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

absl::Status UnknownFlag(absl::string_view name) {
  std::string nearest;
  size_t best = 4;
  for (const auto& [known, flag] : absl::GetAllFlags()) {
    if (!IsOurs(*flag)) continue;
    const size_t distance = EditDistance(name, known);
    if (distance < best) {
      best = distance;
      nearest = std::string(known);
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown flag --", name, nearest.empty() ? "" : "; did you mean --", nearest,
                   nearest.empty() ? "; --help lists all" : "?"));
}

absl::CommandLineFlag* Find(absl::string_view name) {
  absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  return flag != nullptr && IsOurs(*flag) ? flag : nullptr;
}

}  // namespace

bool CommandLine::Has(absl::string_view flag) const {
  return std::find(given.begin(), given.end(), flag) != given.end();
}

absl::StatusOr<CommandLine> ParseFlags(int argc, const char* const* argv) {
  CommandLine result;
  bool flags_ended = false;
  for (int i = 1; i < argc; ++i) {
    absl::string_view text = argv[i];
    if (flags_ended || text.size() < 2 || text[0] != '-') {
      result.positional.emplace_back(text);
      continue;
    }
    if (text == "--") {
      flags_ended = true;
      continue;
    }
    absl::ConsumePrefix(&text, "-");
    absl::ConsumePrefix(&text, "-");
    if (text == "help" || text == "h") {
      result.help = true;
      continue;
    }
    const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
    std::string name = parts[0];
    std::string value = parts.size() > 1 ? parts[1] : "";
    bool has_value = parts.size() > 1;
    absl::CommandLineFlag* flag = Find(name);
    if (flag == nullptr && !has_value && absl::StartsWith(name, "no")) {
      absl::CommandLineFlag* negated = Find(absl::string_view(name).substr(2));
      if (negated != nullptr && negated->IsOfType<bool>()) {
        flag = negated;
        name = name.substr(2);
        value = "false";
        has_value = true;
      }
    }
    if (flag == nullptr) return UnknownFlag(name);
    if (!has_value && flag->IsOfType<bool>()) {
      value = "true";
      has_value = true;
    }
    if (!has_value) {
      if (i + 1 >= argc)
        return absl::InvalidArgumentError(absl::StrCat("flag --", name, " needs a value"));
      value = argv[++i];
    }
    std::string error;
    if (!flag->ParseFrom(value, &error)) {
      return absl::InvalidArgumentError(absl::StrCat("--", name, "=", value, ": not a valid value",
                                                     error.empty() ? "" : " (", error,
                                                     error.empty() ? "" : ")"));
    }
    result.given.push_back(name);
  }
  return result;
}

std::string FlagHelp() {
  std::map<std::string, std::string> lines;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (!IsOurs(*flag)) continue;
    lines[std::string(name)] =
        absl::StrCat("  --", name, "=", flag->DefaultValue(), "\n      ", flag->Help(), "\n");
  }
  std::string text;
  for (const auto& [name, line] : lines) text += line;
  return text;
}

}  // namespace ringside
