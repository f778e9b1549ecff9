#include "experiments/log_tail.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ringside {
namespace {

constexpr std::streamoff kTailBytes = 16 << 10;

// "12:00:01.123 "
bool StartsWithTime(absl::string_view line) {
  constexpr absl::string_view kShape = "00:00:00.000 ";
  if (line.size() < kShape.size()) return false;
  for (size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == '0' ? !absl::ascii_isdigit(line[i]) : line[i] != kShape[i]) return false;
  }
  return true;
}

}  // namespace

std::string LastLogLine(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kTailBytes));
  std::string text(static_cast<size_t>(std::min(size, kTailBytes)), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return LastLine(text);
}

std::string LastLine(absl::string_view text) {
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n', absl::SkipWhitespace());
  if (lines.empty()) return "";
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (StartsWithTime(*line) && absl::StrContains(*line, ": error: ")) return std::string(*line);
  }
  return std::string(absl::StripTrailingAsciiWhitespace(lines.back()));
}

std::string StripLogPrefix(absl::string_view line) {
  if (!StartsWithTime(line)) return std::string(line);
  const size_t colon = line.find(": ", 13);
  if (colon == absl::string_view::npos) return std::string(line);
  line.remove_prefix(colon + 2);
  absl::ConsumePrefix(&line, "error: ");
  absl::ConsumePrefix(&line, "warning: ");
  return std::string(line);
}

}  // namespace ringside
