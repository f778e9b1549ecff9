#include "common/config/network_spec.h"

#include <cstdio>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/optional.h"

namespace ringside {
namespace {

struct Unit {
  absl::string_view name;
  double factor;
};

struct Quantity {
  absl::string_view name;
  Unit units[3];  // largest first
  // That can be written: what anybody may want to forecast, and nothing that is but a slip.
  double least;
  double most;
  // That links of one machine can have.
  double least_emulable;
  double most_emulable;
};

// Of 10^6 bits/s. Below 100 kbit/s, one packet takes longer than the emulation lets gather at once;
// above 100 Gbit/s, no machine's own memory keeps up.
constexpr Quantity kBandwidth = {
    "bandwidth", {{"gbit", 1e3}, {"mbit", 1}, {"kbit", 1e-3}}, 1e-6, 1e9, 0.1, 100e3};
// Of microseconds.
constexpr Quantity kLatency = {"latency", {{"s", 1e6}, {"ms", 1e3}, {"us", 1}}, 1e-3, 1e9, 1, 1e6};

// "1.5mbit" -> 1.5 times the unit; nothing where it is no number with one of the units behind it.
absl::optional<double> Read(const Quantity& quantity, absl::string_view text) {
  const size_t letters = text.find_first_not_of("0123456789.");
  if (letters == absl::string_view::npos || letters == 0) return absl::nullopt;
  double number = 0;
  if (!absl::SimpleAtod(text.substr(0, letters), &number)) return absl::nullopt;
  const std::string name = absl::AsciiStrToLower(text.substr(letters));
  for (const Unit& unit : quantity.units) {
    if (unit.name == name) return number * unit.factor;
  }
  return absl::nullopt;
}

// Shortest text that reads back as the same number, as multiplied by `factor`.
std::string Shortest(double value, double factor) {
  char text[64];
  for (int decimals = 0; decimals <= 30; ++decimals) {
    std::snprintf(text, sizeof(text), "%.*f", decimals, value / factor);
    double read = 0;
    if (absl::SimpleAtod(text, &read) && read * factor == value) break;
  }
  return text;
}

std::string InLargestUnit(const Quantity& quantity, double value) {
  const Unit* unit = std::begin(quantity.units);
  while (unit + 1 != std::end(quantity.units) && value < unit->factor) ++unit;
  return absl::StrCat(Shortest(value, unit->factor), unit->name);
}

std::string Range(const Quantity& quantity, double least, double most) {
  return absl::StrCat("at least ", InLargestUnit(quantity, least), " and at most ",
                      InLargestUnit(quantity, most));
}

absl::Status Refusal(absl::string_view text, absl::string_view part, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("--network=", text, ": \"", part, "\" ", why, ", e.g. --network=1gbit,100us"));
}

absl::Status CheckEmulable(const Quantity& quantity, double value, const NetworkSpec& spec) {
  if (value == 0 || (value >= quantity.least_emulable && value <= quantity.most_emulable))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--network=", ToString(spec), ": the ", quantity.name, " of an emulated network must be ",
      Range(quantity, quantity.least_emulable, quantity.most_emulable),
      ", e.g. --network=1gbit,100us"));
}

}  // namespace

absl::StatusOr<NetworkSpec> ParseNetworkSpec(absl::string_view text) {
  NetworkSpec spec;
  if (text.empty()) return spec;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    part = absl::StripAsciiWhitespace(part);
    const absl::optional<double> mbit = Read(kBandwidth, part);
    const absl::optional<double> us = Read(kLatency, part);
    if (!mbit.has_value() && !us.has_value()) {
      return Refusal(text, part,
                     "must be a bandwidth in kbit, mbit or gbit, or a latency one way in us, ms or "
                     "s");
    }
    const Quantity& quantity = mbit.has_value() ? kBandwidth : kLatency;
    double* const value = mbit.has_value() ? &spec.bandwidth_mbit : &spec.latency_us;
    if (*value > 0) {
      return Refusal(text, part,
                     absl::StrCat("is a second ", quantity.name, "; there may be one of each"));
    }
    *value = mbit.has_value() ? *mbit : *us;
    if (!(*value >= quantity.least && *value <= quantity.most)) {
      return Refusal(text, part,
                     absl::StrCat("must be ", Range(quantity, quantity.least, quantity.most),
                                  ", or be left out"));
    }
  }
  return spec;
}

std::string ToString(const NetworkSpec& spec) {
  std::vector<std::string> parts;
  if (spec.bandwidth_mbit > 0) parts.push_back(InLargestUnit(kBandwidth, spec.bandwidth_mbit));
  if (spec.latency_us > 0) parts.push_back(InLargestUnit(kLatency, spec.latency_us));
  return absl::StrJoin(parts, ",");
}

absl::Status CheckEmulable(const NetworkSpec& spec) {
  const absl::Status bandwidth = CheckEmulable(kBandwidth, spec.bandwidth_mbit, spec);
  return bandwidth.ok() ? CheckEmulable(kLatency, spec.latency_us, spec) : bandwidth;
}

absl::StatusOr<double> ParseBandwidthMbit(absl::string_view flag, absl::string_view text) {
  const absl::optional<double> mbit = Read(kBandwidth, absl::StripAsciiWhitespace(text));
  if (mbit.has_value() && *mbit >= kBandwidth.least && *mbit <= kBandwidth.most) return *mbit;
  return absl::InvalidArgumentError(absl::StrCat(
      "--", flag, "=", text, ": must be a bandwidth in kbit, mbit or gbit, ",
      Range(kBandwidth, kBandwidth.least, kBandwidth.most), ", e.g. --", flag, "=25gbit"));
}

absl::StatusOr<double> ParseLatencyUs(absl::string_view flag, absl::string_view text) {
  const absl::optional<double> us = Read(kLatency, absl::StripAsciiWhitespace(text));
  if (us.has_value() && *us <= kLatency.most) return *us;
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", text, ": must be a latency one way in us, ms or s, at most ",
                   InLargestUnit(kLatency, kLatency.most), ", e.g. --", flag, "=20us"));
}

}  // namespace ringside
