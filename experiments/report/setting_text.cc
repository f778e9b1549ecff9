#include "experiments/report/setting_text.h"

#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "experiments/report/number_text.h"

namespace ringside {

std::string SettingTitle(absl::string_view setting) {
  if (setting == "ps_shards") return "Shards";
  std::string title = absl::StrReplaceAll(setting, {{"_", " "}});
  for (const char* unit : {" bytes", " mbit", " us"}) {
    if (absl::EndsWith(title, unit)) title.resize(title.size() - std::string(unit).size());
  }
  if (!title.empty()) title[0] = absl::ascii_toupper(static_cast<unsigned char>(title[0]));
  return title;
}

std::string SettingValueText(absl::string_view setting, const std::string& value) {
  if (value.empty()) return "none";
  int64_t number = 0;
  if (absl::EndsWith(setting, "_bytes") && absl::SimpleAtoi(value, &number))
    return Bytes(static_cast<double>(number));
  return value;
}

std::string SettingNumberText(absl::string_view setting, double value) {
  if (absl::StrContains(setting, "latency")) return absl::StrCat(RoundedNumber(value), " µs");
  if (absl::StrContains(setting, "bandwidth") || setting == "network")
    return absl::StrCat(RoundedNumber(value), " Mbit/s");
  if (absl::EndsWith(setting, "bytes")) return Bytes(value);
  const std::string number =
      value == std::floor(value) ? WholeNumber(static_cast<int64_t>(value)) : RoundedNumber(value);
  if (setting == "workers") return absl::StrCat(number, value == 1 ? " worker" : " workers");
  if (setting == "ps_shards") return absl::StrCat(number, value == 1 ? " shard" : " shards");
  return number;
}

std::string PointText(const google::protobuf::Map<std::string, std::string>& point) {
  const std::map<std::string, std::string> ordered(point.begin(), point.end());
  std::vector<std::string> parts;
  for (const auto& [setting, value] : ordered) {
    parts.push_back(absl::StrCat(absl::AsciiStrToLower(SettingTitle(setting)), " ",
                                 SettingValueText(setting, value)));
  }
  return absl::StrJoin(parts, ", ");
}

std::string SettingOf(const RunResult& run, const std::string& name) {
  const auto found = run.settings().find(name);
  return found == run.settings().end() ? "" : found->second;
}

}  // namespace ringside
