#include "worker/models/shape_file.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 36;  // a quarter of a tebibyte

// `room`: elements that may still come.
absl::StatusOr<ParameterSpec> ParseLine(const std::vector<std::string>& words, int64_t room) {
  if (words.size() < 2) {
    return absl::InvalidArgumentError(absl::StrCat(words[0], " has no extents"));
  }
  ParameterSpec spec;
  spec.name = words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    int64_t extent = 0;
    if (!absl::SimpleAtoi(words[i], &extent) || extent < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", words[i], "\" must be a whole number of at least 1"));
    }
    if (extent > room) {
      return absl::InvalidArgumentError(
          absl::StrCat("more than ", kMostElements, " elements in all"));
    }
    room /= extent;
    spec.shape.push_back(extent);
  }
  return spec;
}

}  // namespace

absl::StatusOr<std::vector<ParameterSpec>> ParseShapes(const std::string& path,
                                                       absl::string_view text) {
  std::vector<ParameterSpec> specs;
  std::set<std::string> names;
  int64_t room = kMostElements;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = line.substr(0, line.find('#'));
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    auto spec = ParseLine(words, room);
    if (spec.ok() && !names.insert(spec->name).second) {
      spec = absl::InvalidArgumentError(absl::StrCat(spec->name, " was there before"));
    }
    if (!spec.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--model_args=file=", path, ": line ", number,
                                                     ": ", spec.status().message()));
    }
    room -= spec->elements();
    specs.push_back(*std::move(spec));
  }
  if (specs.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--model_args=file=", path,
                     ": names no parameter; a line is a name and extents, \"fc.weight 10 256\""));
  }
  return specs;
}

absl::StatusOr<std::vector<ParameterSpec>> ReadShapeFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    return absl::NotFoundError(
        absl::StrCat("--model_args=file=", path, ": cannot be read: ", strerror(errno),
                     "; it must hold a name and extents on each line, e.g. \"fc.weight 10 256\""));
  }
  return ParseShapes(path, text);
}

}  // namespace ringside
