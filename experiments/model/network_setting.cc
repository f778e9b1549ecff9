#include "experiments/model/network_setting.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

struct Unit {
  absl::string_view name;
  double factor;
};

// A number of at least 0 and one of the units, longer names first. An empty unit is a bare number.
absl::StatusOr<double> ParseQuantity(absl::string_view text, const std::vector<Unit>& units,
                                     absl::string_view example) {
  const std::string lower = absl::AsciiStrToLower(absl::StripAsciiWhitespace(text));
  for (const Unit& unit : units) {
    if (!absl::EndsWith(lower, unit.name)) continue;
    double number = 0;
    const std::string digits = lower.substr(0, lower.size() - unit.name.size());
    if (absl::SimpleAtod(digits, &number) && std::isfinite(number) && number >= 0) {
      return number * unit.factor;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\": must be a number with its unit, such as ", example));
}

}  // namespace

absl::StatusOr<double> ParseBandwidthMbit(absl::string_view text) {
  return ParseQuantity(text, {{"gbit", 1e3}, {"mbit", 1}, {"kbit", 1e-3}}, "25gbit or 200mbit");
}

absl::StatusOr<double> ParseLatencyUs(absl::string_view text) {
  return ParseQuantity(text, {{"us", 1}, {"ms", 1e3}, {"s", 1e6}}, "20us or 1.5ms");
}

absl::StatusOr<NetworkSetting> ParseNetworkSetting(absl::string_view text) {
  NetworkSetting setting;
  if (text.empty()) return setting;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  if (parts.size() > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("--network=", text, ": must be like 1gbit or 1gbit,100us"));
  }
  for (const absl::string_view part : parts) {
    if (absl::EndsWith(absl::AsciiStrToLower(part), "bit")) {
      RINGSIDE_ASSIGN_OR_RETURN(setting.bandwidth_mbit, ParseBandwidthMbit(part));
    } else {
      RINGSIDE_ASSIGN_OR_RETURN(setting.latency_us, ParseLatencyUs(part));
    }
  }
  return setting;
}

double PayloadBytesPerSecond(double bandwidth_mbit) { return PayloadOf(bandwidth_mbit * 1e6 / 8); }

double PayloadOf(double frame_bytes) { return frame_bytes * 1448 / 1514; }

absl::StatusOr<int64_t> ParseParameterCount(absl::string_view text) {
  RINGSIDE_ASSIGN_OR_RETURN(
      const double count,
      ParseQuantity(text, {{"k", 1e3}, {"m", 1e6}, {"b", 1e9}, {"", 1}}, "25.6M"));
  // Beyond that a plan of buckets takes too much memory.
  if (count < 1 || count > 1e11) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\": must be from 1 to 1e11 parameters"));
  }
  return static_cast<int64_t>(std::llround(count));
}

}  // namespace ringside
