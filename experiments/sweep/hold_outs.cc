#include "experiments/sweep/hold_outs.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

absl::StatusOr<ForecastSpec::HoldOut> Resolve(const SpecSource& source,
                                              const SpecSettings& settings,
                                              const std::map<JobSetting, std::string>& recorded,
                                              int index) {
  ForecastSpec::HoldOut resolved = source.spec.forecast().hold_out(index);
  const std::string path = absl::StrCat("forecast.hold_out[", index, "]");
  if (resolved.setting().empty() && resolved.workers() == 0)
    return source.Error(path, "would hold out every point; name a setting and value, or workers");
  if (resolved.workers() != 0 && std::find(settings.workers.begin(), settings.workers.end(),
                                           resolved.workers()) == settings.workers.end()) {
    return source.Error(absl::StrCat(path, ".workers"),
                        absl::StrCat(resolved.workers(), " must be one of workers: ",
                                     absl::StrJoin(settings.workers, ", ")));
  }
  if (resolved.setting().empty()) return resolved;
  std::vector<std::string> names;
  for (const SweepDimension& dimension : settings.dimensions) {
    names.push_back(dimension.setting);
    if (dimension.setting != resolved.setting()) continue;
    std::vector<std::string> values;
    for (const SpecSetting& value : dimension.values) {
      const std::string& text = recorded.at({value.name, value.value});
      values.push_back(absl::StrCat("\"", value.value, "\""));
      if (resolved.value() != value.value && resolved.value() != text) continue;
      resolved.set_value(text);
      return resolved;
    }
    return source.Error(
        absl::StrCat(path, ".value"),
        absl::StrCat("\"", resolved.value(), "\" must be one of ", absl::StrJoin(values, ", "),
                     ", which ", dimension.setting, " has here"));
  }
  return source.Error(absl::StrCat(path, ".setting"),
                      absl::StrCat("\"", resolved.setting(), "\" does not vary; ",
                                   names.empty() ? "nothing does" : absl::StrJoin(names, ", "),
                                   names.empty()       ? ""
                                   : names.size() == 1 ? " does"
                                                       : " do"));
}

}  // namespace

absl::StatusOr<ForecastSpec> ResolveHoldOuts(const SpecSource& source, const SpecSettings& settings,
                                             const std::map<JobSetting, std::string>& recorded) {
  ForecastSpec forecast;
  for (int i = 0; i < source.spec.forecast().hold_out_size(); ++i) {
    RINGSIDE_ASSIGN_OR_RETURN(*forecast.add_hold_out(), Resolve(source, settings, recorded, i));
  }
  return forecast;
}

bool IsHeldOut(const ForecastSpec& forecast, const std::map<std::string, std::string>& point,
               int workers) {
  return std::any_of(forecast.hold_out().begin(), forecast.hold_out().end(),
                     [&](const ForecastSpec::HoldOut& hold_out) {
                       if (hold_out.workers() != 0 && hold_out.workers() != workers) return false;
                       if (hold_out.setting().empty()) return true;
                       const auto found = point.find(hold_out.setting());
                       return found != point.end() && found->second == hold_out.value();
                     });
}

}  // namespace ringside
