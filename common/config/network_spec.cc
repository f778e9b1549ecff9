#include "common/config/network_spec.h"

#include <cstdio>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace ringside {
namespace {

struct Unit {
  absl::string_view name;
  double factor;
};

// Largest first. Of 10^6 bits/s, and of microseconds.
constexpr Unit kBandwidths[] = {{"gbit", 1e3}, {"mbit", 1}, {"kbit", 1e-3}};
constexpr Unit kLatencies[] = {{"s", 1e6}, {"ms", 1e3}, {"us", 1}};
// Below, one packet takes longer than the emulation lets gather at once; above, no machine's own
// memory keeps up.
constexpr double kLeastMbit = 0.1;
constexpr double kMostMbit = 100e3;
constexpr double kLeastUs = 1;
constexpr double kMostUs = 1e6;

absl::Status Refusal(absl::string_view text, absl::string_view part, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("--network=", text, ": \"", part, "\" ", why));
}

// "1.5mbit" -> 1.5 and "mbit"; false where there is no number in front.
bool Split(absl::string_view part, double* number, std::string* unit) {
  const size_t letters = part.find_first_not_of("0123456789.");
  if (letters == absl::string_view::npos || letters == 0) return false;
  *unit = absl::AsciiStrToLower(part.substr(letters));
  return absl::SimpleAtod(part.substr(0, letters), number);
}

// 0: the unit is not one of them.
template <size_t size>
double FactorOf(const Unit (&units)[size], absl::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return 0;
}

// Shortest text that reads back as the same number, as multiplied by `factor`.
std::string Shortest(double value, double factor) {
  char text[40];
  for (int precision = 1; precision <= 17; ++precision) {
    std::snprintf(text, sizeof(text), "%.*f", precision - 1, value / factor);
    double read = 0;
    if (absl::SimpleAtod(text, &read) && read * factor == value) break;
  }
  return text;
}

template <size_t size>
std::string InLargestUnit(const Unit (&units)[size], double value) {
  const Unit* unit = units;
  while (unit != units + size - 1 && value < unit->factor) ++unit;
  return absl::StrCat(Shortest(value, unit->factor), unit->name);
}

}  // namespace

absl::StatusOr<NetworkSpec> ParseNetworkSpec(absl::string_view text) {
  NetworkSpec spec;
  if (text.empty()) return spec;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    double number = 0;
    std::string unit;
    const bool split = Split(part, &number, &unit);
    const double bandwidth = split ? FactorOf(kBandwidths, unit) : 0;
    const double latency = split ? FactorOf(kLatencies, unit) : 0;
    if (bandwidth == 0 && latency == 0) {
      return Refusal(text, part,
                     "must be a bandwidth in kbit, mbit or gbit, or a latency one way in us, ms or "
                     "s, e.g. --network=1gbit,100us");
    }
    double* const value = bandwidth > 0 ? &spec.bandwidth_mbit : &spec.latency_us;
    if (*value > 0) {
      return Refusal(text, part,
                     absl::StrCat("is a second ", bandwidth > 0 ? "bandwidth" : "latency",
                                  "; there may be one of each"));
    }
    *value = number * (bandwidth > 0 ? bandwidth : latency);
    if (bandwidth > 0 && !(*value >= kLeastMbit && *value <= kMostMbit))
      return Refusal(text, part, "must be at least 100kbit and at most 100gbit");
    if (latency > 0 && !(*value >= kLeastUs && *value <= kMostUs))
      return Refusal(text, part, "must be at least 1us and at most 1s");
  }
  return spec;
}

std::string ToString(const NetworkSpec& spec) {
  std::vector<std::string> parts;
  if (spec.bandwidth_mbit > 0) parts.push_back(InLargestUnit(kBandwidths, spec.bandwidth_mbit));
  if (spec.latency_us > 0) parts.push_back(InLargestUnit(kLatencies, spec.latency_us));
  return absl::StrJoin(parts, ",");
}

}  // namespace ringside
