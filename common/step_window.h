// A range of training steps, as flags name it. Pure.
#ifndef RINGSIDE_COMMON_STEP_WINDOW_H_
#define RINGSIDE_COMMON_STEP_WINDOW_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

// Both ends belong to it; as it is made, it is empty.
struct StepWindow {
  int64_t from = 1;
  int64_t to = 0;

  bool empty() const { return to < from; }
  int64_t steps() const { return empty() ? 0 : to - from + 1; }
  bool Contains(int64_t step) const { return from <= step && step <= to; }
};

// "10:20"; steps count from 1. INVALID_ARGUMENT: anything else; says what is wrong with it, without
// the flag's name.
absl::StatusOr<StepWindow> ParseStepWindow(absl::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STEP_WINDOW_H_
