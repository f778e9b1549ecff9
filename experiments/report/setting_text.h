// The settings that a sweep varies, in words. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SETTING_TEXT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SETTING_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "results.pb.h"

namespace ringside {

// Of a flag: "bucket_bytes" is "Bucket", "network" is "Network"; others have their name with
// blanks.
std::string SettingTitle(absl::string_view setting);

// A value of it: "4194304" bytes are "4.00 MiB", "" is "none".
std::string SettingValueText(absl::string_view setting, const std::string& value);

// A number in the unit of the setting: "340 Mbit/s", "100 µs", "4.00 MiB", "4 workers".
std::string SettingNumberText(absl::string_view setting, double value);

// "network 200mbit,100us, bucket 4.00 MiB"; empty where nothing varies.
std::string PointText(const google::protobuf::Map<std::string, std::string>& point);

// The value of a setting of a run, empty where the run does not tell.
std::string SettingOf(const RunResult& run, const std::string& name);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SETTING_TEXT_H_
