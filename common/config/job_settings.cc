#include "common/config/job_settings.h"

#include <map>
#include <set>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/config/flag_parser.h"
#include "common/config/job_flags.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

const std::set<std::string>& JobFlags() {
  static const auto* names = [] {
    auto* set = new std::set<std::string>;
    constexpr size_t kDashes = 2;
    for (const std::string& flag : JobConfig().ToFlags()) {
      set->insert(flag.substr(kDashes, flag.find('=') - kDashes));
    }
    return set;
  }();
  return *names;
}

absl::Status Set(const std::string& name, const std::string& value) {
  absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
  std::string error;
  if (flag != nullptr && flag->ParseFrom(value, &error)) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("--", name, " does not take back ", value, ": ", error));
}

// Puts all flags of jobs back when it goes out of scope. absl::FlagSaver, which does the same, says
// so on standard error for each of them.
class JobFlagSaver {
 public:
  JobFlagSaver() {
    for (const std::string& name : JobFlags())
      values_[name] = absl::FindCommandLineFlag(name)->CurrentValue();
  }
  ~JobFlagSaver() {
    for (const auto& [name, value] : values_) RINGSIDE_CHECK(Set(name, value).ok());
  }
  JobFlagSaver(const JobFlagSaver&) = delete;
  JobFlagSaver& operator=(const JobFlagSaver&) = delete;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace

bool IsJobFlag(absl::string_view name) { return JobFlags().count(std::string(name)) > 0; }

absl::StatusOr<JobConfig> JobConfigFromSettings(const std::vector<JobSetting>& settings,
                                                int workers) {
  const JobFlagSaver saver;
  for (const std::string& name : JobFlags()) {
    RINGSIDE_RETURN_IF_ERROR(Set(name, absl::FindCommandLineFlag(name)->DefaultValue()));
  }
  for (const auto& [name, value] : settings) {
    const std::string argument = absl::StrCat("--", name, "=", value);
    const char* const argv[] = {"", argument.c_str()};
    RINGSIDE_RETURN_IF_ERROR(ParseFlags(2, argv).status());
    if (IsJobFlag(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat("--", name, " is no flag of a job"));
  }
  return JobConfigFromFlags(workers);
}

}  // namespace ringside
