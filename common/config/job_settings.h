// A job from names and values that come from elsewhere than the command line, such as a file.
#ifndef RINGSIDE_COMMON_CONFIG_JOB_SETTINGS_H_
#define RINGSIDE_COMMON_CONFIG_JOB_SETTINGS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/job_config.h"

namespace ringside {

// Flag name, without dashes, and value as on the command line.
using JobSetting = std::pair<std::string, std::string>;

// Whether there is a flag of this name that tells a job what to do (JobConfig::ToFlags), rather
// than a process or `ringside`.
bool IsJobFlag(absl::string_view name);

// What JobConfigFromFlags would read if these were all that the command line says; of two with one
// name the later counts. Flags are left as they were. Does not validate. INVALID_ARGUMENT: a flag
// that is not there (with the nearest name) or is none of a job, a malformed value. Not while other
// threads read flags.
absl::StatusOr<JobConfig> JobConfigFromSettings(const std::vector<JobSetting>& settings,
                                                int workers);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CONFIG_JOB_SETTINGS_H_
