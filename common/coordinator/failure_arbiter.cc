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

// A worker in this phase has got all parameters and closed its links to the shards.
bool IsAfterTraining(const Progress& progress) {
  return progress.phase() == "evaluate" || progress.phase() == "finish";
}

}  // namespace

FailureArbiter::FailureArbiter(absl::Duration lease, const std::vector<MemberId>& members,
                               absl::Time now, ShardReplacements::Config tolerated)
    : lease_(lease), last_tick_(now), replacements_(tolerated) {
  for (const MemberId& id : members) states_[id].heard = now;
}

void FailureArbiter::Heartbeat(const MemberId& id, const Progress& progress, absl::Time now) {
  State& state = states_.at(id);
  state.heard = now;
  state.progress = progress;
  if (id.role() == ROLE_WORKER && IsAfterTraining(progress))
    EndTraining(absl::StrCat(ToString(id), " has ended its training"), replacements_.Unhealed());
}

void FailureArbiter::SessionClosed(const MemberId& id, absl::Time now) {
  Lost(id, "its connection to the coordinator closed (the process ended or was killed)", now);
}

void FailureArbiter::Exited(const MemberId& id, absl::string_view how) {
  if (const ShardReplacements::Loss* loss = replacements_.Find(id)) {
    ConvictUnreplaced(*loss, absl::StrCat("it is not started again (", how, ")"));
  } else {
    Lost(id, how, absl::InfiniteFuture());
  }
}

void FailureArbiter::Restarted(const MemberId& id, absl::string_view how, absl::Time now) {
  Lost(id, how, now);
}

void FailureArbiter::Lost(const MemberId& id, absl::string_view why, absl::Time now) {
  State& state = states_.at(id);
  if (state.left || state.gone) return;
  state.gone = true;
  state.why = std::string(why);
  const bool replaced = now != absl::InfiniteFuture() && Tolerates(id);
  if (replaced || !state.suspects_others) Judge(id, LastStep(id), why, now);
}

bool FailureArbiter::Tolerates(const MemberId& id) const {
  return id.role() == ROLE_SHARD && replacements_.left() && training_over_.empty() &&
         !verdict_.has_value();
}

void FailureArbiter::Judge(const MemberId& culprit, int64_t step, absl::string_view why,
                           absl::Time now) {
  if (now == absl::InfiniteFuture() || !Tolerates(culprit)) {
    Convict(culprit, "was lost", step, absl::StrCat(why, WhyNotTolerated(culprit)));
    return;
  }
  states_.at(culprit).gone = true;
  replacements_.Await(culprit, step, why, now);
  Acquit();
}

std::string FailureArbiter::WhyNotTolerated(const MemberId& id) const {
  const int restarts = replacements_.config().restarts;
  if (id.role() != ROLE_SHARD || restarts == 0) return "";
  if (!training_over_.empty())
    return absl::StrCat("; a replacement is of no use, ", training_over_);
  return replacements_.left() ? "" : absl::StrCat("; --restart_shards=", restarts, " is used up");
}

void FailureArbiter::Acquit() {
  suspicions_.clear();
  for (auto& [id, state] : states_) {
    state.suspects_others = false;
    // Who ended as a victim is gone all the same, and nobody else will be named for it any more.
    if (state.gone && !state.left && !Awaits(id)) {
      Judge(id, LastStep(id), state.why, absl::InfiniteFuture());
    }
  }
}

uint32_t FailureArbiter::Replaced(const MemberId& id, absl::Time now) {
  State& state = states_.at(id);
  state.heard = now;
  state.gone = false;
  state.suspects_others = false;
  return replacements_.Replaced(id);
}

void FailureArbiter::ConvictUnreplaced(const ShardReplacements::Loss& loss, absl::string_view why) {
  Convict(loss.shard, "was lost", loss.step, absl::StrCat(loss.why, "; ", why));
}

void FailureArbiter::Reported(const MemberId& id, const FailureReport& report, absl::Time now) {
  State& state = states_.at(id);
  if (state.left || verdict_.has_value()) return;
  const bool explained = replacements_.any() || report.recovery() < replacements_.recovery();
  if (explained && report.suspects_size() > 0) return;
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

void FailureArbiter::Left(const MemberId& id) {
  states_.at(id).left = true;
  if (id.role() != ROLE_WORKER) return;
  absl::optional<ShardReplacements::Loss> awaited;
  if (replacements_.any()) awaited = replacements_.Earliest();
  EndTraining(absl::StrCat(ToString(id), " has left"), awaited);
}

void FailureArbiter::EndTraining(std::string why,
                                 const absl::optional<ShardReplacements::Loss>& open) {
  if (!training_over_.empty()) return;
  training_over_ = std::move(why);
  if (!open.has_value()) return;
  ConvictUnreplaced(*open, absl::StrCat("a replacement is of no use, ", training_over_));
}

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
    Lost(id, absl::StrFormat("no heartbeat for %.1f s", absl::ToDoubleSeconds(now - heard)), now);
  }
  if (const auto overdue = replacements_.Overdue(now)) {
    ConvictUnreplaced(*overdue, absl::StrCat("no replacement joined within ",
                                             absl::FormatDuration(replacements_.config().timeout)));
  }
  if (!verdict_.has_value() && !suspicions_.empty() && suspicions_.front().expires <= now) {
    JudgeSuspect(now);
  }
}

void FailureArbiter::ForgiveStandstill(absl::Duration gap) {
  // Heartbeats that arrived meanwhile must not end up in the future.
  for (auto& [id, state] : states_) state.heard = std::min(state.heard + gap, last_tick_ + gap);
  for (Suspicion& suspicion : suspicions_) suspicion.expires += gap;
  replacements_.Postpone(gap);
}

// Suspicions chain: whoever waits for a victim suspects the victim. The first suspect that suspects
// nobody itself is where the chain starts; where all do, the earliest report counts.
void FailureArbiter::JudgeSuspect(absl::Time now) {
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
  const std::string why =
      absl::StrCat(chosen->message, " (reported by ", ToString(chosen->reporter), ")");
  Judge(culprit, LastStep(culprit), why, now);
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
