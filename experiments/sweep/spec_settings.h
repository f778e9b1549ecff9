// What a spec says about the settings of its jobs, checked flag by flag. Pure.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_SPEC_SETTINGS_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_SPEC_SETTINGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/sweep/spec_source.h"

namespace ringside {

struct SpecSetting {
  std::string name;
  std::string value;
  std::string path;  // of the field that says it
};

struct SweepContender {
  std::string strategy;
  std::string label;  // no other contender has it
  std::vector<SpecSetting> settings;
  int trials = 1;
  std::string path;
};

struct SweepDimension {
  std::string setting;
  std::vector<SpecSetting> values;  // not empty, no two with the same text
  std::string path;
};

struct SpecSettings {
  std::vector<SpecSetting> shared;
  std::vector<SweepContender> contenders;  // not empty
  std::vector<SweepDimension> dimensions;  // no two of one setting
  std::vector<int> workers;                // not empty, each once
  int trials = 1;
};

// INVALID_ARGUMENT: a field is missing or out of range; a flag that no job has, that a spec says in
// another way, or with a value that cannot be read; a setting that is said twice; contenders that
// differ in what a comparison refuses. Says where, and what would be right. Whether the jobs that
// come of it are valid is not checked here.
absl::StatusOr<SpecSettings> ReadSpecSettings(const SpecSource& source);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_SPEC_SETTINGS_H_
