#include "allreduce/bench/bench_config.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr int kMaxWorldSize = 32;                    // sums of the test data are exact up to here
constexpr int64_t kMaxSizeBytes = int64_t{1} << 30;  // what Gloo can count
constexpr char kUnits[] = {'K', 'M', 'G'};

absl::Status OneOf(absl::string_view flag, const std::string& value,
                   const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", value, ": must be one of ", absl::StrJoin(allowed, ", ")));
}

absl::Status AtLeast(absl::string_view flag, int64_t value, int64_t least) {
  if (value >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", value, ": must be at least ", least));
}

absl::Status Positive(absl::string_view flag, absl::Duration value) {
  if (value > absl::ZeroDuration() && value < absl::InfiniteDuration()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", absl::FormatDuration(value),
                                                 ": must be positive and finite, e.g. 100ms"));
}

}  // namespace

absl::Status BenchConfig::Validate() const {
  if (world_sizes.empty()) return absl::InvalidArgumentError("--world_sizes is empty");
  for (const int size : world_sizes) {
    if (size < 2 || size > kMaxWorldSize) {
      return absl::InvalidArgumentError(
          absl::StrCat("--world_sizes: ", size, " is not between 2 and ", kMaxWorldSize));
    }
  }
  if (sizes_bytes.empty()) return absl::InvalidArgumentError("--sizes is empty");
  for (const int64_t bytes : sizes_bytes) {
    if (bytes < 4 || bytes % 4 != 0 || bytes > kMaxSizeBytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--sizes: ", bytes, " is no multiple of 4 bytes up to ", SizeText(kMaxSizeBytes)));
    }
  }
  RINGSIDE_RETURN_IF_ERROR(AtLeast("rounds", rounds, 1));
  RINGSIDE_RETURN_IF_ERROR(AtLeast("segment_bytes", segment_bytes, 4));
  RINGSIDE_RETURN_IF_ERROR(Positive("min_time", min_time));
  RINGSIDE_RETURN_IF_ERROR(Positive("timeout", timeout));
  RINGSIDE_RETURN_IF_ERROR(OneOf("wire_dtype", wire_dtype, {"fp32", "bf16", "fp16"}));
  const bool direct = contenders.empty() || targets ||
                      std::find(contenders.begin(), contenders.end(), "direct") != contenders.end();
  if (wire_dtype != "fp32" && direct) {
    return absl::InvalidArgumentError(
        absl::StrCat("--wire_dtype=", wire_dtype,
                     ": the direct schedule and --targets are for fp32 alone; name "
                     "others, e.g. --contenders=ring_tcp,ring_shm"));
  }
  if (formats.empty()) return absl::InvalidArgumentError("--format is empty");
  for (const std::string& format : formats) {
    RINGSIDE_RETURN_IF_ERROR(OneOf("format", format, {"table", "csv", "json"}));
  }
  if (out.empty() && formats.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--format=", absl::StrJoin(formats, ","),
                     ": several formats need a folder for the files, --out=DIR"));
  }
  return absl::OkStatus();
}

int64_t BenchConfig::max_elements() const {
  return *std::max_element(sizes_bytes.begin(), sizes_bytes.end()) / int64_t{sizeof(float)};
}

bool BenchConfig::Writes(absl::string_view format) const {
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

std::map<std::string, std::string> BenchConfig::Settings() const {
  const auto size_text = [](std::string* text, int64_t bytes) {
    absl::StrAppend(text, SizeText(bytes));
  };
  return {{"contenders", absl::StrJoin(contenders, ",")},
          {"world_sizes", absl::StrJoin(world_sizes, ",")},
          {"sizes", absl::StrJoin(sizes_bytes, ",", size_text)},
          {"rounds", absl::StrCat(rounds)},
          {"min_time", absl::FormatDuration(min_time)},
          {"in_place", in_place ? "true" : "false"},
          {"congestion_control", congestion_control},
          {"wire_dtype", wire_dtype},
          {"segment_bytes", absl::StrCat(segment_bytes)},
          {"timeout", absl::FormatDuration(timeout)}};
}

absl::StatusOr<int64_t> ParseSize(absl::string_view text) {
  const absl::Status error = absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no size: a multiple of 4 bytes such as 4096, 64K or 100M"));
  int64_t unit = 1;
  absl::string_view digits = text;
  if (!digits.empty()) {
    const char last = absl::ascii_toupper(digits.back());
    for (int i = 0; i < 3; ++i) {
      if (last == kUnits[i]) unit = int64_t{1} << (10 * (i + 1));
    }
    if (unit > 1) digits.remove_suffix(1);
  }
  int64_t count = 0;
  if (!std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit)) return error;
  if (!absl::SimpleAtoi(digits, &count) || count <= 0 || count > kMaxSizeBytes) return error;
  if (count * unit % 4 != 0) return error;
  return count * unit;
}

std::string SizeText(int64_t bytes) {
  for (int i = 2; i >= 0; --i) {
    const int64_t unit = int64_t{1} << (10 * (i + 1));
    if (bytes % unit == 0) return absl::StrCat(bytes / unit, std::string(1, kUnits[i]));
  }
  return absl::StrCat(bytes);
}

}  // namespace ringside
