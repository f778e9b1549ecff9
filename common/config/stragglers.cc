#include "common/config/stragglers.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

absl::StatusOr<Straggler> ParseOne(absl::string_view entry) {
  const auto refuse = [entry](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("--stragglers: \"", entry, "\": ", why));
  };
  const std::pair<absl::string_view, absl::string_view> at =
      absl::StrSplit(entry, absl::MaxSplits('@', 1));
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(at.first, absl::MaxSplits(':', 1));
  Straggler straggler;
  if (!absl::SimpleAtoi(parts.first, &straggler.rank) ||
      !absl::ParseDuration(std::string(parts.second), &straggler.delay)) {
    return refuse("must be RANK:DURATION, or RANK:DURATION@FROM:TO, e.g. 2:50ms");
  }
  if (straggler.rank < 0) return refuse("the rank must be at least 0");
  if (straggler.delay <= absl::ZeroDuration() || straggler.delay == absl::InfiniteDuration()) {
    return refuse("the duration must be positive and finite");
  }
  if (at.first.size() == entry.size()) return straggler;
  absl::StatusOr<StepWindow> steps = ParseStepWindow(at.second);
  if (!steps.ok()) return refuse(steps.status().message());
  straggler.steps = *steps;
  return straggler;
}

}  // namespace

absl::StatusOr<std::vector<Straggler>> ParseStragglers(absl::string_view text) {
  std::vector<Straggler> stragglers;
  if (text.empty()) return stragglers;
  for (absl::string_view entry : absl::StrSplit(text, ',')) {
    RINGSIDE_ASSIGN_OR_RETURN(Straggler one, ParseOne(entry));
    stragglers.push_back(one);
  }
  return stragglers;
}

absl::Status CheckStragglers(absl::string_view text, int workers) {
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<Straggler> stragglers, ParseStragglers(text));
  for (const Straggler& straggler : stragglers) {
    if (straggler.rank < workers) continue;
    return absl::InvalidArgumentError(absl::StrCat("--stragglers=", text, ": there is no rank ",
                                                   straggler.rank, "; must be from 0 to ",
                                                   workers - 1));
  }
  return absl::OkStatus();
}

absl::Duration DelayOf(const std::vector<Straggler>& stragglers, int rank, int64_t step) {
  absl::Duration delay;
  for (const Straggler& straggler : stragglers) {
    const bool now = straggler.steps.empty() || straggler.steps.Contains(step);
    if (straggler.rank == rank && now) delay += straggler.delay;
  }
  return delay;
}

}  // namespace ringside
