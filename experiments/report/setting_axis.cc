#include "experiments/report/setting_axis.h"

#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "experiments/report/number_text.h"
#include "experiments/report/setting_text.h"

namespace ringside {
namespace {

struct Unit {
  absl::string_view name;
  double size;
};

// The longer name of two that end alike comes first.
constexpr Unit kBandwidths[] = {{"gbit", 1e3}, {"mbit", 1}, {"kbit", 1e-3}, {"bit", 1e-6}};
constexpr Unit kLatencies[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}};

template <size_t n>
absl::optional<double> ReadQuantity(absl::string_view text, const Unit (&units)[n]) {
  for (const Unit& unit : units) {
    double number = 0;
    absl::string_view digits = text;
    if (!absl::EndsWith(digits, unit.name)) continue;
    digits.remove_suffix(unit.name.size());
    if (absl::SimpleAtod(digits, &number) && std::isfinite(number) && number >= 0)
      return number * unit.size;
  }
  return absl::nullopt;
}

absl::optional<double> ReadPlain(const std::string& value) {
  double number = 0;
  if (!absl::SimpleAtod(value, &number) || !std::isfinite(number)) return absl::nullopt;
  return number;
}

}  // namespace

absl::optional<NetworkText> ReadNetwork(absl::string_view text) {
  NetworkText network;
  bool any = false;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    absl::optional<double>* place = nullptr;
    absl::optional<double> number = ReadQuantity(part, kBandwidths);
    if (number.has_value()) place = &network.bandwidth_mbit;
    if (place == nullptr) {
      number = ReadQuantity(part, kLatencies);
      place = &network.latency_us;
    }
    if (!number.has_value() || place->has_value()) return absl::nullopt;
    *place = number;
    any = true;
  }
  if (!any) return absl::nullopt;
  return network;
}

std::string SettingAxis::Unit() const {
  switch (quantity_) {
    case Quantity::kBandwidth:
      return "Mbit/s";
    case Quantity::kLatency:
      return "us";
    case Quantity::kBytes:
      return "bytes";
    case Quantity::kWorkers:
      return "workers";
    case Quantity::kNumber:
      break;
  }
  return "";
}

std::string SettingAxis::Title() const {
  if (quantity_ == Quantity::kBandwidth) return absl::StrCat(setting_, " bandwidth");
  if (quantity_ == Quantity::kLatency) return absl::StrCat(setting_, " latency");
  return setting_;
}

std::string SettingAxis::FileName() const {
  if (alone_ || quantity_ == Quantity::kNumber) return setting_;
  return absl::StrCat(setting_, quantity_ == Quantity::kLatency ? "_latency" : "_bandwidth");
}

absl::optional<double> SettingAxis::Read(const std::string& value) const {
  if (quantity_ != Quantity::kBandwidth && quantity_ != Quantity::kLatency) return ReadPlain(value);
  const absl::optional<NetworkText> network = ReadNetwork(value);
  if (!network.has_value()) return absl::nullopt;
  if (quantity_ == Quantity::kLatency) return network->latency_us.value_or(0);
  const absl::optional<double> bandwidth = network->bandwidth_mbit;
  // 0 is "not shaped", which is no place along an axis of bandwidths.
  return bandwidth.has_value() && *bandwidth > 0 ? bandwidth : absl::nullopt;
}

std::string SettingAxis::Rest(const std::string& value) const {
  if (quantity_ != Quantity::kBandwidth && quantity_ != Quantity::kLatency) return "";
  const bool along_latency = quantity_ == Quantity::kLatency;
  for (absl::string_view part : absl::StrSplit(value, ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (ReadQuantity(part, kBandwidths).has_value() == along_latency && !part.empty())
      return std::string(part);
  }
  return "";
}

std::string SettingAxis::Text(double number) const {
  if (quantity_ == Quantity::kBandwidth) return SettingNumberText("bandwidth", number);
  if (quantity_ == Quantity::kLatency) return SettingNumberText("latency", number);
  return SettingNumberText(setting_, number);
}

SettingAxis WorkersAxis() { return {"workers", SettingAxis::Quantity::kWorkers}; }

std::vector<SettingAxis> AxesOf(const std::string& setting,
                                const std::vector<std::string>& values) {
  using Quantity = SettingAxis::Quantity;
  std::vector<Quantity> quantities = {Quantity::kBandwidth, Quantity::kLatency};
  if (setting != "network")
    quantities = {absl::EndsWith(setting, "_bytes") ? Quantity::kBytes : Quantity::kNumber};
  std::vector<Quantity> found;
  for (Quantity quantity : quantities) {
    const SettingAxis axis(setting, quantity);
    std::set<double> places;
    for (const std::string& value : values) {
      const absl::optional<double> number = axis.Read(value);
      if (number.has_value()) places.insert(*number);
    }
    if (places.size() > 1) found.push_back(quantity);
  }
  std::vector<SettingAxis> axes;
  for (Quantity quantity : found) axes.emplace_back(setting, quantity, found.size() == 1);
  return axes;
}

std::vector<double> SortingNumbers(const std::string& setting, const std::string& value) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (setting != "network") return {ReadPlain(value).value_or(kNone)};
  const absl::optional<NetworkText> network = ReadNetwork(value);
  if (!network.has_value()) return {kNone, kNone};
  return {network->bandwidth_mbit.value_or(kNone), network->latency_us.value_or(0)};
}

}  // namespace ringside
