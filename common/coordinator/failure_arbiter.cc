#include "common/coordinator/failure_arbiter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// Ticks further apart than this part of the lease mean that the coordinator itself stood still.
constexpr double kStandstill = 0.2;

}  // namespace

FailureArbiter::FailureArbiter(absl::Duration lease, const std::vector<MemberId>& members,
                               absl::Time now)
    : lease_(lease), last_tick_(now) {
  for (const MemberId& id : members) states_[id].heard = now;
}

void FailureArbiter::Heartbeat(const MemberId& id, const Progress& progress, absl::Time now) {
  State& state = states_.at(id);
  state.heard = now;
  state.progress = progress;
}

void FailureArbiter::SessionClosed(const MemberId& id) {
  Lost(id, "its connection to the coordinator closed (the process ended or was killed)");
}

void FailureArbiter::Exited(const MemberId& id, absl::string_view how) { Lost(id, how); }

void FailureArbiter::Lost(const MemberId& id, absl::string_view why) {
  State& state = states_.at(id);
  if (state.left || state.gone) return;
  state.gone = true;
  if (!state.suspects_others) Convict(id, "was lost", LastStep(id), why);
}

void FailureArbiter::Reported(const MemberId& id, const FailureReport& report, absl::Time now) {
  State& state = states_.at(id);
  if (state.left || verdict_.has_value()) return;
  Suspicion suspicion;
  for (const MemberId& suspect : report.suspects()) {
    const auto known = states_.find(suspect);
    if (known == states_.end() || known->second.left || SameMember(suspect, id)) continue;
    suspicion.suspects.push_back(suspect);
  }
  if (suspicion.suspects.empty()) {
    Convict(id, "failed", report.step() > 0 ? report.step() : LastStep(id), report.message());
    return;
  }
  state.suspects_others = true;
  suspicion.reporter = id;
  suspicion.message = report.message();
  suspicion.step = report.step();
  suspicion.expires = now + kGrace * lease_;
  suspicions_.push_back(std::move(suspicion));
}

void FailureArbiter::Left(const MemberId& id) { states_.at(id).left = true; }

void FailureArbiter::Tick(absl::Time now) {
  if (now - last_tick_ > kStandstill * lease_) ForgiveStandstill(now - last_tick_);
  last_tick_ = now;
  // Of several silent members the one that fell silent first is the cause.
  std::vector<std::pair<absl::Time, MemberId>> silent;
  for (const auto& [id, state] : states_) {
    if (state.left || state.gone || now - state.heard < kLostAfter * lease_) continue;
    silent.emplace_back(state.heard, id);
  }
  std::stable_sort(silent.begin(), silent.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [heard, id] : silent) {
    Lost(id, absl::StrFormat("no heartbeat for %.1f s", absl::ToDoubleSeconds(now - heard)));
  }
  if (!verdict_.has_value() && !suspicions_.empty() && suspicions_.front().expires <= now) {
    ConvictSuspect();
  }
}

void FailureArbiter::ForgiveStandstill(absl::Duration gap) {
  // Heartbeats that arrived meanwhile must not end up in the future.
  for (auto& [id, state] : states_) state.heard = std::min(state.heard + gap, last_tick_ + gap);
  for (Suspicion& suspicion : suspicions_) suspicion.expires += gap;
}

// Suspicions chain: whoever waits for a victim suspects the victim. The first suspect that suspects
// nobody itself is where the chain starts; where all do, the earliest report counts.
void FailureArbiter::ConvictSuspect() {
  const Suspicion* chosen = &suspicions_.front();
  MemberId culprit = chosen->suspects.front();
  bool found = false;
  for (const Suspicion& suspicion : suspicions_) {
    for (const MemberId& suspect : suspicion.suspects) {
      if (found || states_.at(suspect).suspects_others) continue;
      chosen = &suspicion;
      culprit = suspect;
      found = true;
    }
  }
  Convict(culprit, "was lost", LastStep(culprit),
          absl::StrCat(chosen->message, " (reported by ", ToString(chosen->reporter), ")"));
}

// What the member reported, or what others saw of it in a later step.
int64_t FailureArbiter::LastStep(const MemberId& id) const {
  int64_t step = states_.at(id).progress.step();
  for (const Suspicion& suspicion : suspicions_) {
    if (Contains(suspicion.suspects, id)) step = std::max(step, suspicion.step);
  }
  return step;
}

void FailureArbiter::Convict(const MemberId& culprit, absl::string_view what, int64_t step,
                             absl::string_view why) {
  if (verdict_.has_value()) return;
  Verdict verdict;
  *verdict.mutable_culprit() = culprit;
  verdict.set_step(step);
  verdict.set_reason(absl::StrCat(ToString(culprit), " ", what, " at step ", step, ": ", why));
  verdict_ = std::move(verdict);
}

bool FailureArbiter::AllEnded() const {
  return std::all_of(states_.begin(), states_.end(), [this](const auto& entry) {
    return entry.second.left || (verdict_.has_value() && entry.second.gone);
  });
}

}  // namespace ringside
