#include "experiments/job_supervisor.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// Between SIGTERM, or an interrupt that was passed on, and SIGKILL.
constexpr absl::Duration kTermGrace = absl::Seconds(2);
// The same for a job that saves its training first.
constexpr absl::Duration kSaveGrace = absl::Seconds(60);
// For worker 0 to write its last checkpoint, once all others have ended.
constexpr absl::Duration kWriteGrace = absl::Hours(1);
// For a culprit that is alive, once all others have ended.
constexpr absl::Duration kCulpritGrace = absl::Milliseconds(500);

}  // namespace

JobSupervisor::JobSupervisor(Config config, absl::Time now)
    : config_(std::move(config)), start_(now) {
  for (const MemberId& member : config_.members)
    processes_.push_back({member, absl::nullopt, false});
}

void JobSupervisor::OnJoined(absl::Time now) {
  static_cast<void>(now);
  joined_ = true;
}

bool JobSupervisor::OnExit(int index, const ChildExit& exit, absl::Time now) {
  Process& process = processes_[index];
  if (MayRestart(process, exit)) {
    ++restarts_;
    ++process.restarts;
    return true;
  }
  process.exit = exit;
  process.signaled = terminated_ || killed_ || interrupt_ != 0;
  const std::string who = absl::StrCat(ToString(process.member), " (", ToString(exit), ")");
  if (!ending_ && !joined_) {
    // The others wait for it in vain, and what it had to say is in its log.
    End(absl::StrCat(who, " ended before all processes had joined"), index, now, now + kTermGrace);
  } else if (!ending_ && !exit.ok()) {
    // The coordinator learns of it from us, and its verdict, which knows the step, replaces this
    // line.
    End(absl::StrCat("lost ", who), index, now + config_.lease, now + config_.lease + kTermGrace);
  } else if (!ending_) {
    if (process.member.role() == ROLE_WORKER && !first_good_end_) first_good_end_ = now;
    if (Running(ROLE_WORKER) == 0 && !workers_ended_at_) workers_ended_at_ = now;
  }
  if (saving_ && process.member.role() == ROLE_WORKER && process.member.rank() == 0) {
    // It has saved what there was to save, and all others have nothing left to do.
    saving_ = false;
    terminate_at_ = now + config_.lease;
    kill_at_ = std::min(kill_at_, terminate_at_ + kTermGrace);
  }
  HastenIfOnlyCulpritRemains(now);
  return false;
}

// Once a worker has ended well there is nothing left that a new shard could take part in.
bool JobSupervisor::MayRestart(const Process& process, const ChildExit& exit) const {
  return process.member.role() == ROLE_SHARD && !exit.ok() && joined_ && !ending_ &&
         !first_good_end_ && restarts_ < config_.restart_shards;
}

void JobSupervisor::OnRestartFailed(int index, const ChildExit& exit, const std::string& why,
                                    absl::Time now) {
  processes_[index].exit = exit;
  if (ending_) return;
  End(absl::StrCat("lost ", ToString(processes_[index].member), " (", ToString(exit),
                   ") and cannot start it again: ", why),
      index, now + config_.lease, now + config_.lease + kTermGrace);
}

void JobSupervisor::OnVerdict(const Verdict& verdict, absl::Time now) {
  if (has_verdict_ || interrupt_ != 0) return;
  // The coordinator only repeats what we told it: whoever ended before joining has said no step.
  if (ending_ && !joined_) return;
  has_verdict_ = true;
  verdict_step_ = verdict.step();
  int culprit = -1;
  for (size_t i = 0; i < processes_.size(); ++i) {
    const MemberId& member = processes_[i].member;
    if (member.role() == verdict.culprit().role() && member.rank() == verdict.culprit().rank()) {
      culprit = static_cast<int>(i);
    }
  }
  if (!ending_) {
    End(verdict.reason(), culprit, now + config_.lease, now + config_.lease + kTermGrace);
  } else {
    error_ = verdict.reason();
    culprit_ = culprit;
  }
  HastenIfOnlyCulpritRemains(now);
}

void JobSupervisor::OnInterrupt(int signal, absl::Time now) {
  const bool again = interrupt_ != 0;
  if (!again) {
    interrupt_ = signal;
    saving_ = pending_save_ = config_.saves_first && signal == SIGTERM && joined_ && !ending_;
    if (!saving_) pending_interrupt_ = signal;
  }
  const absl::Time kill_at =
      again ? now : std::min(kill_at_, now + (saving_ ? kSaveGrace : kTermGrace));
  if (!ending_)
    End(absl::StrCat("interrupted by signal ", signal), -1, absl::InfiniteFuture(), kill_at);
  kill_at_ = kill_at;
}

int JobSupervisor::NextSignal(absl::Time now) {
  CheckGuards(now);
  if (AllEnded()) return 0;
  if (pending_interrupt_ != 0) return std::exchange(pending_interrupt_, 0);
  if (now >= kill_at_ && !killed_) {
    killed_ = true;
    return SIGKILL;
  }
  if (now >= terminate_at_ && !terminated_ && !killed_) {
    terminated_ = true;
    return SIGTERM;
  }
  return 0;
}

int JobSupervisor::NextSignalForWorker0() {
  return std::exchange(pending_save_, false) && !AllEnded() ? SIGTERM : 0;
}

bool JobSupervisor::AllEnded() const { return Running(ROLE_WORKER) + Running(ROLE_SHARD) == 0; }

std::string JobSupervisor::Error() const { return error_; }

int JobSupervisor::LauncherStatus() const {
  if (interrupt_ != 0) return 128 + interrupt_;
  if (!ending_) return 0;
  if (culprit_ < 0) return 1;
  const Process& culprit = processes_[culprit_];
  // What goes wrong after the first step is no longer the input's fault.
  const bool bad_input = verdict_step_ == 0 && culprit.exit.has_value() && !culprit.signaled &&
                         culprit.exit->signal == 0 && culprit.exit->status == 2;
  return bad_input ? 2 : 1;
}

void JobSupervisor::End(std::string error, int culprit, absl::Time terminate_at,
                        absl::Time kill_at) {
  ending_ = true;
  error_ = std::move(error);
  culprit_ = culprit;
  terminate_at_ = terminate_at;
  kill_at_ = kill_at;
}

// What no single event brings about: somebody does not come to an end.
void JobSupervisor::CheckGuards(absl::Time now) {
  if (ending_ || AllEnded()) return;
  if (!joined_ && now >= start_ + config_.join_timeout + config_.lease) {
    End(absl::StrCat("not all processes joined within ", absl::FormatDuration(now - start_),
                     "; running: ", NamesOfRunning()),
        -1, now, now + kTermGrace);
  } else if (workers_ended_at_ && now >= *workers_ended_at_ + config_.lease) {
    End(absl::StrCat("all workers have ended, but these run on: ", NamesOfRunning()), -1, now,
        now + kTermGrace);
  } else if (first_good_end_ &&
             now >= *first_good_end_ + config_.lease +
                        (OnlyTheWriterRuns() ? kWriteGrace : config_.step_timeout)) {
    End(absl::StrCat("a worker has finished, but these run on: ", NamesOfRunning()), -1, now,
        now + kTermGrace);
  }
}

// A process that was stopped, or that hangs, never ends by itself: no reason to wait for it once
// all others have.
void JobSupervisor::HastenIfOnlyCulpritRemains(absl::Time now) {
  if (!has_verdict_ || hastened_ || interrupt_ != 0 || culprit_ < 0) return;
  if (processes_[culprit_].exit.has_value() || Running(ROLE_WORKER) + Running(ROLE_SHARD) != 1)
    return;
  hastened_ = true;
  terminate_at_ = std::min(terminate_at_, now + kCulpritGrace);
  kill_at_ = std::min(kill_at_, terminate_at_ + kCulpritGrace);
}

bool JobSupervisor::OnlyTheWriterRuns() const {
  return config_.saves_first &&
         std::all_of(processes_.begin(), processes_.end(), [](const Process& process) {
           return process.exit.has_value() ||
                  (process.member.role() == ROLE_WORKER && process.member.rank() == 0);
         });
}

int JobSupervisor::Running(Role role) const {
  return static_cast<int>(
      std::count_if(processes_.begin(), processes_.end(), [role](const Process& process) {
        return process.member.role() == role && !process.exit.has_value();
      }));
}

std::string JobSupervisor::NamesOfRunning() const {
  std::vector<MemberId> running;
  for (const Process& process : processes_) {
    if (!process.exit.has_value()) running.push_back(process.member);
  }
  return ToString(running);
}

}  // namespace ringside
