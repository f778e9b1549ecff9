// Which settings a strategy takes notice of: one that does not runs once, whatever their values.
// Pure.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_HEEDED_SETTINGS_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_HEEDED_SETTINGS_H_

#include "absl/strings/string_view.h"

namespace ringside {

// Whether runs of `strategy` (of --strategy) depend on the flag `setting`; those of a setting that
// is not known here do.
bool IsHeeded(absl::string_view strategy, absl::string_view setting);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_HEEDED_SETTINGS_H_
