// Varied settings as numbers, along which something can be drawn or interpolated. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SETTING_AXIS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SETTING_AXIS_H_

#include <string>
#include <vector>

#include "absl/types/optional.h"

namespace ringside {

// A number that the values of a setting can be read as; a network has two.
class SettingAxis {
 public:
  enum class Quantity { kNumber, kBytes, kWorkers, kBandwidth, kLatency };

  SettingAxis(std::string setting, Quantity quantity, bool alone = true)
      : setting_(std::move(setting)), quantity_(quantity), alone_(alone) {}

  const std::string& setting() const { return setting_; }
  Quantity quantity() const { return quantity_; }
  // "Mbit/s", "us", "bytes", "workers"; else empty.
  std::string Unit() const;
  // "network bandwidth", "bucket_bytes"
  std::string Title() const;
  // Of files: the setting, with what it is read as where it is read in several ways.
  std::string FileName() const;

  // Nothing where the value is no such number, as ParseNetworkSpec reads networks: one without a
  // latency has latency 0, one without a bandwidth has none.
  absl::optional<double> Read(const std::string& value) const;
  // What else a network says: of "1gbit,100us" along the bandwidth "100us". Empty where nothing.
  std::string Rest(const std::string& value) const;
  // "200 Mbit/s", "100 µs", "4.00 MiB", "3 workers"
  std::string Text(double number) const;

 private:
  std::string setting_;
  Quantity quantity_;
  bool alone_;  // no other axis has this setting
};

SettingAxis WorkersAxis();

// The axes along which at least two of `values` have a place of their own.
std::vector<SettingAxis> AxesOf(const std::string& setting, const std::vector<std::string>& values);

// By which values of a setting are sorted; those that are no numbers come last.
std::vector<double> SortingNumbers(const std::string& setting, const std::string& value);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SETTING_AXIS_H_
