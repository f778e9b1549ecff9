#include "experiments/progress_line.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ringside {
namespace {

constexpr absl::Duration kWindow = absl::Seconds(5);
constexpr absl::Duration kPrintInterval = absl::Seconds(10);

int TerminalColumns() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// Cuts a UTF-8 text after `columns` characters, so that the terminal does not wrap: a wrapped line
// cannot be rewritten.
std::string CutToColumns(absl::string_view text, int columns) {
  int seen = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts_character && seen++ == columns) return std::string(text.substr(0, i));
  }
  return std::string(text);
}

std::string WithThousands(int64_t value) {
  std::string digits = absl::StrCat(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

}  // namespace

ProgressView ProgressMeter::Update(const std::vector<WorkerProgress>& workers, absl::Time now) {
  ProgressView view;
  view.workers = static_cast<int>(workers.size());
  if (workers.empty()) return view;
  view.step = std::numeric_limits<int64_t>::max();
  int64_t samples = 0;
  for (const WorkerProgress& worker : workers) {
    const Progress& progress = worker.progress;
    if (progress.step() < view.step) {
      view.step = progress.step();
      view.phase = progress.phase();  // of whoever is behind
    }
    view.total_steps = std::max(view.total_steps, progress.total_steps());
    view.loss += progress.loss();
    samples += progress.samples();
    if (progress.own_work_s() > view.slowest_work_s) {
      view.slowest_work_s = progress.own_work_s();
      view.slowest_rank = worker.rank;
    }
  }
  if (history_.empty() || view.step > history_.back().step)
    history_.push_back({now, view.step, samples});
  while (history_.size() > 2 && history_[1].time <= now - kWindow) history_.pop_front();
  if (history_.size() < 2) return view;
  const Sample& first = history_.front();
  const Sample& last = history_.back();
  const double seconds = absl::ToDoubleSeconds(last.time - first.time);
  if (seconds <= 0) return view;
  view.samples_per_s = static_cast<double>(last.samples - first.samples) / seconds;
  if (view.total_steps >= view.step) {
    view.left = absl::Seconds(seconds * static_cast<double>(view.total_steps - view.step) /
                              static_cast<double>(last.step - first.step));
  }
  return view;
}

std::string FormatProgress(const ProgressView& view) {
  if (view.phase == "evaluate") return absl::StrCat("evaluating after ", view.step, " steps");
  if (view.phase == "finish") return absl::StrCat("finishing after ", view.step, " steps");
  if (view.step <= 0) return "starting";
  std::string line = absl::StrCat("step ", view.step, "/", view.total_steps);
  if (view.samples_per_s)
    absl::StrAppend(&line, " · ", FormatRate(*view.samples_per_s), " samples/s");
  absl::StrAppendFormat(&line, " · loss %.4f", view.loss);
  if (view.workers > 1 && view.slowest_work_s > 0) {
    absl::StrAppendFormat(&line, " · slowest: worker %d, %.1f ms", view.slowest_rank,
                          view.slowest_work_s * 1e3);
  }
  if (view.left) absl::StrAppend(&line, " · ", FormatClock(*view.left), " left");
  return line;
}

std::string FormatRate(double rate) {
  if (rate >= 100) return WithThousands(static_cast<int64_t>(rate + 0.5));
  return rate >= 10 ? absl::StrFormat("%.1f", rate) : absl::StrFormat("%.2f", rate);
}

std::string FormatClock(absl::Duration duration) {
  const int64_t seconds = absl::ToInt64Seconds(duration + absl::Milliseconds(500));
  if (seconds < 3600) return absl::StrFormat("%d:%02d", seconds / 60, seconds % 60);
  return absl::StrFormat("%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

ProgressPrinter::ProgressPrinter(std::string prefix, bool terminal)
    : prefix_(std::move(prefix)), terminal_(terminal) {}

ProgressPrinter::~ProgressPrinter() { Clear(); }

void ProgressPrinter::Show(absl::string_view line, absl::Time now) {
  const std::string text = prefix_.empty() ? std::string(line) : absl::StrCat(prefix_, ": ", line);
  if (terminal_) {
    fprintf(stderr, "\r%s\x1b[K", CutToColumns(text, TerminalColumns() - 1).c_str());
    on_line_ = true;
  } else if (next_print_ == absl::InfinitePast()) {
    next_print_ = now + kPrintInterval;  // a short job needs no line
  } else if (now >= next_print_) {
    fprintf(stderr, "%s\n", text.c_str());
    next_print_ = now + kPrintInterval;
  }
  fflush(stderr);
}

void ProgressPrinter::Clear() {
  if (!on_line_) return;
  fputs("\r\x1b[K", stderr);
  fflush(stderr);
  on_line_ = false;
}

bool StandardErrorIsTerminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace ringside
