// The value of --stragglers: ranks that are made slow on purpose. Pure.
#ifndef RINGSIDE_COMMON_CONFIG_STRAGGLERS_H_
#define RINGSIDE_COMMON_CONFIG_STRAGGLERS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/step_window.h"

namespace ringside {

struct Straggler {
  int rank = 0;
  absl::Duration delay;
  StepWindow steps;  // empty: all
};

// "2:50ms" (rank 2 sleeps 50 ms in every step), "2:50ms@10:20" (in steps 10 to 20), several with
// commas between them; empty: nobody. INVALID_ARGUMENT: names the flag, the entry, and what is
// allowed.
absl::StatusOr<std::vector<Straggler>> ParseStragglers(absl::string_view text);

// INVALID_ARGUMENT: as ParseStragglers, or a rank that a job of so many workers does not have.
absl::Status CheckStragglers(absl::string_view text, int workers);

// What all entries of the rank add up to in this step.
absl::Duration DelayOf(const std::vector<Straggler>& stragglers, int rank, int64_t step);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CONFIG_STRAGGLERS_H_
