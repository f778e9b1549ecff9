#include "experiments/sweep/spec_settings.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/config/job_config.h"
#include "common/config/job_settings.h"
#include "common/status_macros.h"
#include "experiments/experiment_config.h"
#include "experiments/report/server_mode.h"

namespace ringside {
namespace {

// Flags of a job that a spec says in a way of its own, or that the sweep decides for each run.
const std::map<std::string, std::string>& Reserved() {
  static const auto* reserved = new std::map<std::string, std::string>{
      {"strategy", "say it as strategy { name: ... }"},
      {"workers", "say it as workers: [...]"},
      {"trial", "say how many as trials: ..."},
      {"out", "the folder is that of --out on the command line"},
      {"resume", "a run of a sweep starts from the beginning"},
      {"checkpoint_dir", "each run has its own folder"},
      {"snapshot_dir", "each run has its own folder"},
      {"tensorboard_dir", "a sweep writes no events"},
  };
  return *reserved;
}

// In what contenders may differ: what the report tells series apart by, or may differ at will.
std::vector<std::string> ContenderSettings() {
  std::vector<std::string> names = {"ps_shards", "placement", "ring_link", "schedule", "device"};
  for (const std::string& name : ServerSettings()) {
    if (Reserved().count(name) == 0) names.push_back(name);
  }
  return names;
}

bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// "200mbit,100us"
std::string NetworkText(const SweepSpec::Network& network) {
  std::vector<std::string> parts;
  if (network.bandwidth_mbit() > 0)
    parts.push_back(absl::StrFormat("%.15gmbit", network.bandwidth_mbit()));
  if (network.latency_us() > 0) parts.push_back(absl::StrFormat("%.15gus", network.latency_us()));
  return absl::StrJoin(parts, ",");
}

class Reader {
 public:
  explicit Reader(const SpecSource& source) : source_(source), spec_(source.spec) {}

  absl::StatusOr<SpecSettings> Read() {
    RINGSIDE_RETURN_IF_ERROR(ReadNumbers());
    RINGSIDE_ASSIGN_OR_RETURN(result_.shared, ReadFlags("", spec_.flags()));
    RINGSIDE_RETURN_IF_ERROR(ReadDimensions());
    RINGSIDE_RETURN_IF_ERROR(ReadContenders());
    RINGSIDE_RETURN_IF_ERROR(CheckTwiceSaid());
    return std::move(result_);
  }

 private:
  absl::Status Error(absl::string_view path, absl::string_view problem) const {
    return source_.Error(path, problem);
  }

  absl::Status ReadNumbers() {
    if (spec_.question().empty()) return Error("question", "must say what the sweep is to answer");
    if (spec_.workers().empty()) return Error("workers", "must have at least one number");
    for (int i = 0; i < spec_.workers_size(); ++i) {
      const std::string path = absl::StrCat("workers[", i, "]");
      if (spec_.workers(i) < 1)
        return Error(path, absl::StrCat(spec_.workers(i), " must be at least 1"));
      const std::vector<int>& before = result_.workers;
      if (std::find(before.begin(), before.end(), spec_.workers(i)) != before.end())
        return Error(path, absl::StrCat(spec_.workers(i), " is there twice; each once"));
      result_.workers.push_back(spec_.workers(i));
    }
    if (spec_.trials() < 0)
      return Error("trials", absl::StrCat(spec_.trials(), " must be at least 1"));
    result_.trials = spec_.trials() > 0 ? spec_.trials() : ExperimentConfig().trials;
    if (spec_.global_batch() < 0)
      return Error("global_batch", absl::StrCat(spec_.global_batch(), " must be at least 1"));
    if (spec_.global_batch() > 0 && spec_.scaling() == SweepSpec::WEAK) {
      return Error(
          "global_batch",
          "is fixed by scaling: STRONG alone; weak scaling takes flags: \"batch_size=...\"");
    }
    if (!(spec_.job_time_limit_s() >= 0))
      return Error("job_time_limit_s", "must be at least 0 seconds; 0: no limit");
    return absl::OkStatus();
  }

  // Whether a job can be told this at all.
  absl::Status CheckFlag(const SpecSetting& setting) const {
    const auto reserved = Reserved().find(setting.name);
    if (reserved != Reserved().end()) {
      return Error(setting.path, absl::StrCat("the flag ", setting.name,
                                              " has no place here: ", reserved->second));
    }
    const absl::Status status =
        JobConfigFromSettings({{setting.name, setting.value}}, /*workers=*/1).status();
    return status.ok() ? status : Error(setting.path, status.message());
  }

  absl::StatusOr<std::vector<SpecSetting>> ReadFlags(
      const std::string& prefix,
      const google::protobuf::RepeatedPtrField<std::string>& flags) const {
    std::vector<SpecSetting> settings;
    std::set<std::string> names;
    for (int i = 0; i < flags.size(); ++i) {
      const std::string path = absl::StrCat(prefix, "flags[", i, "]");
      const std::string& text = flags[i];
      const size_t equals = text.find('=');
      if (equals == std::string::npos || equals == 0 || text[0] == '-') {
        return Error(path, absl::StrCat("\"", text, "\" must be name=value, without dashes"));
      }
      settings.push_back({text.substr(0, equals), text.substr(equals + 1), path});
      RINGSIDE_RETURN_IF_ERROR(CheckFlag(settings.back()));
      if (!names.insert(settings.back().name).second)
        return Error(path, absl::StrCat("the flag ", settings.back().name, " is there twice"));
    }
    return settings;
  }

  absl::Status ReadDimensions() {
    RINGSIDE_RETURN_IF_ERROR(ReadNetworks());
    for (int i = 0; i < spec_.vary_size(); ++i) {
      const SweepSpec::Vary& vary = spec_.vary(i);
      SweepDimension dimension;
      dimension.path = absl::StrCat("vary[", i, "]");
      dimension.setting = vary.setting();
      if (vary.values().empty())
        return Error(dimension.path, "must have a setting and at least one of values");
      for (int j = 0; j < vary.values_size(); ++j) {
        dimension.values.push_back(
            {vary.setting(), vary.values(j), absl::StrCat(dimension.path, ".values[", j, "]")});
      }
      RINGSIDE_RETURN_IF_ERROR(AddDimension(std::move(dimension)));
    }
    return absl::OkStatus();
  }

  absl::Status ReadNetworks() {
    SweepDimension dimension{"network", {}, "network[0]"};
    for (int i = 0; i < spec_.network_size(); ++i) {
      const std::string path = absl::StrCat("network[", i, "]");
      const SweepSpec::Network& network = spec_.network(i);
      if (!(network.bandwidth_mbit() >= 0) || !(network.latency_us() >= 0))
        return Error(path, "bandwidth_mbit and latency_us must be at least 0");
      dimension.values.push_back({"network", NetworkText(network), path});
    }
    if (dimension.values.size() > 1) return AddDimension(std::move(dimension));
    for (const SpecSetting& only : dimension.values) {
      RINGSIDE_RETURN_IF_ERROR(CheckFlag(only));
      result_.shared.push_back(only);
    }
    return absl::OkStatus();
  }

  absl::Status AddDimension(SweepDimension dimension) {
    const std::string setting_path = absl::StrCat(dimension.path, ".setting");
    std::set<std::string> texts;
    for (const SpecSetting& value : dimension.values) {
      RINGSIDE_RETURN_IF_ERROR(CheckFlag(value));
      if (!texts.insert(value.value).second)
        return Error(value.path, absl::StrCat("\"", value.value, "\" is there twice; each once"));
    }
    if (JobConfig().SharedSettings().count(dimension.setting) == 0) {
      return Error(setting_path,
                   absl::StrCat("--", dimension.setting, " cannot vary: results do not record it"));
    }
    if (dimension.setting == "batch_size" && spec_.scaling() == SweepSpec::STRONG) {
      return Error(setting_path,
                   "strong scaling derives --batch_size from the global batch; scaling: WEAK lets "
                   "it vary");
    }
    for (const SweepDimension& before : result_.dimensions) {
      if (before.setting != dimension.setting) continue;
      return Error(dimension.path,
                   absl::StrCat(dimension.setting, " varies already, by ", before.path));
    }
    result_.dimensions.push_back(std::move(dimension));
    return absl::OkStatus();
  }

  absl::Status ReadContenders() {
    if (spec_.strategy().empty()) return Error("strategy", "must be there at least once");
    for (int i = 0; i < spec_.strategy_size(); ++i) {
      const SweepSpec::Strategy& strategy = spec_.strategy(i);
      SweepContender contender;
      contender.path = absl::StrCat("strategy[", i, "]");
      contender.strategy = strategy.name();
      if (!Contains(KnownStrategies(), strategy.name())) {
        return Error(absl::StrCat(contender.path, ".name"),
                     absl::StrCat("\"", strategy.name(), "\" must be one of ",
                                  absl::StrJoin(KnownStrategies(), ", ")));
      }
      RINGSIDE_ASSIGN_OR_RETURN(contender.settings,
                                ReadFlags(absl::StrCat(contender.path, "."), strategy.flags()));
      for (const SpecSetting& setting : contender.settings) {
        const std::vector<std::string> allowed = ContenderSettings();
        if (Contains(allowed, setting.name)) continue;
        return Error(setting.path,
                     absl::StrCat("strategies may differ in ", absl::StrJoin(allowed, ", "),
                                  " alone; ", setting.name, " must be shared, or vary"));
      }
      contender.trials = strategy.trials() > 0 ? strategy.trials() : result_.trials;
      if (strategy.trials() < 0 || contender.trials > result_.trials) {
        return Error(absl::StrCat(contender.path, ".trials"),
                     absl::StrCat(strategy.trials(), " must be at least 1 and at most ",
                                  result_.trials, ", which trials says"));
      }
      contender.label = Label(strategy);
      RINGSIDE_RETURN_IF_ERROR(AddContender(std::move(contender)));
    }
    return absl::OkStatus();
  }

  std::string Label(const SweepSpec::Strategy& strategy) const {
    if (!strategy.label().empty()) return strategy.label();
    const auto same = std::count_if(
        spec_.strategy().begin(), spec_.strategy().end(),
        [&](const SweepSpec::Strategy& other) { return other.name() == strategy.name(); });
    if (same == 1 || strategy.flags().empty()) return strategy.name();
    return absl::StrCat(strategy.name(), " ", absl::StrJoin(strategy.flags(), " "));
  }

  absl::Status AddContender(SweepContender contender) {
    for (const SweepContender& before : result_.contenders) {
      if (before.label != contender.label) continue;
      return Error(contender.path,
                   absl::StrCat("\"", contender.label, "\" is there already, as ", before.path));
    }
    result_.contenders.push_back(std::move(contender));
    return absl::OkStatus();
  }

  // A setting that varies is said nowhere else.
  absl::Status CheckTwiceSaid() const {
    std::vector<const SpecSetting*> others;
    for (const SpecSetting& setting : result_.shared) others.push_back(&setting);
    for (const SweepContender& contender : result_.contenders) {
      for (const SpecSetting& setting : contender.settings) others.push_back(&setting);
    }
    for (const SweepDimension& dimension : result_.dimensions) {
      for (const SpecSetting* setting : others) {
        if (setting->name != dimension.setting) continue;
        return Error(setting->path, absl::StrCat(setting->name, " varies, by ", dimension.path));
      }
    }
    return absl::OkStatus();
  }

  const SpecSource& source_;
  const SweepSpec& spec_;
  SpecSettings result_;
};

}  // namespace

absl::StatusOr<SpecSettings> ReadSpecSettings(const SpecSource& source) {
  return Reader(source).Read();
}

}  // namespace ringside
