#include "experiments/report/setting_axis.h"

#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/config/network_spec.h"
#include "experiments/report/number_text.h"
#include "experiments/report/setting_text.h"

namespace ringside {
namespace {

absl::optional<double> ReadPlain(const std::string& value) {
  double number = 0;
  if (!absl::SimpleAtod(value, &number) || !std::isfinite(number)) return absl::nullopt;
  return number;
}

// Empty where the text is no network.
NetworkSpec ReadNetwork(const std::string& value) {
  return ParseNetworkSpec(value).value_or(NetworkSpec{});
}

}  // namespace

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
  const NetworkSpec network = ReadNetwork(value);
  if (network.empty()) return absl::nullopt;
  if (quantity_ == Quantity::kLatency) return network.latency_us;
  // 0 is "not shaped", which is no place along an axis of bandwidths.
  if (network.bandwidth_mbit == 0) return absl::nullopt;
  return network.bandwidth_mbit;
}

std::string SettingAxis::Rest(const std::string& value) const {
  NetworkSpec rest = ReadNetwork(value);
  if (quantity_ == Quantity::kBandwidth) {
    rest.bandwidth_mbit = 0;
  } else if (quantity_ == Quantity::kLatency) {
    rest.latency_us = 0;
  } else {
    return "";
  }
  return ToString(rest);
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
  const NetworkSpec network = ReadNetwork(value);
  if (network.empty()) return {kNone, kNone};
  return {network.bandwidth_mbit > 0 ? network.bandwidth_mbit : kNone, network.latency_us};
}

}  // namespace ringside
