#include "common/step_window.h"

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ringside {

absl::StatusOr<StepWindow> ParseStepWindow(absl::string_view text) {
  const std::vector<absl::string_view> ends = absl::StrSplit(text, ':');
  StepWindow window;
  if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &window.from) ||
      !absl::SimpleAtoi(ends[1], &window.to)) {
    return absl::InvalidArgumentError("must be FROM:TO, two steps, e.g. 10:20");
  }
  if (window.from < 1 || window.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("steps ", window.from, " to ", window.to,
                     "; the first must be at least 1, and the last no earlier than that"));
  }
  return window;
}

}  // namespace ringside
