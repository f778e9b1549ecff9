#include "experiments/sweep/time_left.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "experiments/progress_line.h"

namespace ringside {
namespace {

constexpr size_t kBarColumns = 10;

}  // namespace

TimeLeft::TimeLeft(const std::vector<SweepJob>& jobs) : took_(jobs.size()) {
  for (const SweepJob& job : jobs)
    kinds_.push_back({job.label, job.job.workers, job.points.front()});
}

void TimeLeft::Finished(size_t index, absl::Duration took) {
  if (!took_[index].has_value()) ++finished_;
  took_[index] = took;
}

absl::Duration TimeLeft::Expected(const Kind& kind) const {
  // By likeness: 3 is the same but for the trial.
  absl::Duration sums[4];
  int counts[4] = {};
  for (size_t i = 0; i < kinds_.size(); ++i) {
    if (!took_[i].has_value()) continue;
    const bool same_workers = kinds_[i].workers == kind.workers;
    const bool same_label = same_workers && kinds_[i].label == kind.label;
    const bool same_point = same_label && kinds_[i].point == kind.point;
    const int likeness = int{same_workers} + int{same_label} + int{same_point};
    for (int j = 0; j <= likeness; ++j) {
      sums[j] += *took_[i];
      ++counts[j];
    }
  }
  for (int likeness = 3; likeness >= 0; --likeness) {
    if (counts[likeness] > 0) return sums[likeness] / counts[likeness];
  }
  return absl::ZeroDuration();
}

absl::optional<absl::Duration> TimeLeft::Left(absl::Duration running) const {
  if (finished_ == total()) return absl::ZeroDuration();
  if (finished_ == 0) return absl::nullopt;
  absl::Duration left;
  bool is_first = true;
  for (size_t i = 0; i < kinds_.size(); ++i) {
    if (took_[i].has_value()) continue;
    const absl::Duration expected = Expected(kinds_[i]);
    left += is_first ? std::max(expected - running, absl::ZeroDuration()) : expected;
    is_first = false;
  }
  return left;
}

std::string FormatSweepProgress(size_t finished, size_t total,
                                const absl::optional<absl::Duration>& left) {
  const size_t filled = total == 0 ? 0 : kBarColumns * finished / total;
  std::string text =
      absl::StrCat("[", std::string(filled, '#'), std::string(kBarColumns - filled, '-'), "] ",
                   finished, "/", total);
  if (left.has_value()) absl::StrAppend(&text, ", ", FormatClock(*left), " left");
  return text;
}

}  // namespace ringside
