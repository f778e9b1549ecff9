#include "common/coordinator/job.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/coordinator/verdict.h"
#include "common/suspects.h"

namespace ringside {

namespace {

Rendezvous::Config WithRestartTimeout(Rendezvous::Config config,
                                      const ShardReplacements::Config& tolerated) {
  if (tolerated.restarts > 0) config.restart_timeout = tolerated.timeout;
  return config;
}

std::string DescribeProcess(const Member& member) {
  return absl::StrCat(ToString(member.id()), " (host ",
                      member.host().hostname().empty() ? "unknown" : member.host().hostname(),
                      ", pid ", member.pid(), ")");
}

}  // namespace

Job::Job(Rendezvous::Config config, ShardReplacements::Config tolerated)
    : config_(config),
      tolerated_(tolerated),
      rendezvous_(WithRestartTimeout(std::move(config), tolerated)) {}

absl::StatusOr<uint64_t> Job::Join(const JoinRequest& request, uint64_t session, absl::Time now,
                                   Effects* effects) {
  if (verdict().has_value()) return ToStatus(*verdict());
  if (IsReplacement(request)) return JoinAsReplacement(request, session, now, effects);
  const auto admission = rendezvous_.Join(request, session, now);
  if (!admission.ok()) return admission.status();
  if (admission->replaced.has_value()) {
    const auto old = std::find(waiting_.begin(), waiting_.end(), *admission->replaced);
    if (old != waiting_.end()) waiting_.erase(old);
    effects->joins.push_back(
        {*admission->replaced, absl::CancelledError("the same process has asked again")});
  }
  waiting_.push_back(admission->session);
  if (rendezvous_.complete()) Complete(now, effects);
  return admission->session;
}

void Job::Complete(absl::Time now, Effects* effects) {
  if (!arbiter_.has_value()) {
    std::vector<MemberId> ids;
    for (const Member& member : rendezvous_.Members()) ids.push_back(member.id());
    meetings_.emplace(ids);
    arbiter_.emplace(config_.lease, ids, now, tolerated_);
    for (const Member& member : rendezvous_.Members()) {
      sessions_[rendezvous_.SessionOf(member.id())].id = member.id();
    }
  }
  for (uint64_t session : waiting_) {
    sessions_.at(session).recovery = static_cast<uint32_t>(replacements_.size());
    effects->joins.push_back({session, rendezvous_.MembershipFor(session)});
  }
  waiting_.clear();
}

bool Job::IsReplacement(const JoinRequest& request) const {
  const MemberId& id = request.member().id();
  if (!complete() || !arbiter_->knows(id)) return false;
  if (arbiter_->Awaits(id)) return true;
  return arbiter_->Tolerates(id) && !arbiter_->has_left(id) && !rendezvous_.IsSameProcess(request);
}

absl::StatusOr<uint64_t> Job::JoinAsReplacement(const JoinRequest& request, uint64_t session,
                                                absl::Time now, Effects* effects) {
  const absl::Status fits = rendezvous_.CheckReplacement(request);
  if (!fits.ok()) return fits;
  const MemberId& id = request.member().id();
  const auto other = candidates_.find(id);
  if (other != candidates_.end()) {
    const JoinRequest& theirs = other->second.request;
    if (request.incarnation() == 0 || request.incarnation() != theirs.incarnation()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "duplicate rank: ", DescribeProcess(theirs.member()), " waits for the place already"));
    }
    effects->joins.push_back(
        {other->second.session, absl::CancelledError("the same process has asked again")});
    candidates_.erase(other);
  }
  if (arbiter_->Awaits(id)) {
    Replace(request, session, now, effects);
  } else {
    // If the old one is no more, that is noticed within one lease.
    const absl::Duration patience =
        request.timeout_ms() > 0 ? absl::Milliseconds(request.timeout_ms()) : config_.join_timeout;
    candidates_[id] = {session, request, now + std::min(config_.lease, patience)};
  }
  return session;
}

void Job::Replace(const JoinRequest& request, uint64_t session, absl::Time now, Effects* effects) {
  Replacement replacement;
  *replacement.mutable_member() = request.member();
  const MemberId& id = replacement.member().id();
  replacement.set_recovery(arbiter_->Replaced(id, now));
  rendezvous_.Replace(request, session, replacement.recovery());
  sessions_[session] = {id, replacement.recovery()};
  Append(meetings_->MemberReplaced(id, replacement.recovery()), effects);
  effects->joins.push_back({session, rendezvous_.MembershipFor(session)});
  effects->remarks.push_back(absl::StrCat(DescribeProcess(replacement.member()),
                                          " takes the place of the one that was lost"));
  effects->replacements.push_back(replacement);
  replacements_.push_back(std::move(replacement));
}

void Job::DismissCandidates(absl::Time now, Effects* effects) {
  for (auto candidate = candidates_.begin(); candidate != candidates_.end();) {
    if (candidate->second.deadline > now) {
      ++candidate;
      continue;
    }
    effects->joins.push_back({candidate->second.session, rendezvous_.Taken(candidate->first)});
    candidate = candidates_.erase(candidate);
  }
}

void Job::JoinCancelled(uint64_t session) {
  const auto candidate =
      std::find_if(candidates_.begin(), candidates_.end(),
                   [session](const auto& entry) { return entry.second.session == session; });
  if (candidate != candidates_.end()) candidates_.erase(candidate);
  const auto waiting = std::find(waiting_.begin(), waiting_.end(), session);
  if (waiting == waiting_.end()) return;
  waiting_.erase(waiting);
  rendezvous_.Withdraw(session);
}

absl::StatusOr<MemberId> Job::IdentifySession(uint64_t session) const {
  const auto known = sessions_.find(session);
  if (known != sessions_.end()) return known->second.id;
  return absl::UnauthenticatedError("the caller's session is unknown to this coordinator");
}

std::vector<Replacement> Job::ReplacementsSinceJoin(uint64_t session) const {
  const auto first = replacements_.begin() + sessions_.at(session).recovery;
  return {first, replacements_.end()};
}

absl::StatusOr<MemberId> Job::Identify(const Caller& caller) const {
  auto who = IdentifySession(caller.session());
  if (!who.ok() || caller.generation() == rendezvous_.generation()) return who;
  return absl::UnauthenticatedError(absl::StrCat(ToString(*who), " calls from generation ",
                                                 caller.generation(), ", now is ",
                                                 rendezvous_.generation()));
}

void Job::Heartbeat(const MemberId& who, const Progress& progress, absl::Time now) {
  arbiter_->Heartbeat(who, progress, now);
}

void Job::SessionClosed(const MemberId& who, absl::Time now, Effects* effects) {
  arbiter_->SessionClosed(who, now);
  Settle(now, effects);
}

void Job::Arrive(uint64_t call, const MemberId& who, Contribution contribution, absl::Time now,
                 absl::Duration timeout, Effects* effects) {
  if (verdict().has_value()) {
    MeetingAnswer answer;
    answer.call = call;
    answer.status = ToStatus(*verdict());
    effects->meetings.push_back(std::move(answer));
    return;
  }
  const bool recovery = IsRecovery(contribution.name);
  auto answers = meetings_->Arrive(call, who, std::move(contribution), now, timeout);
  // All have met: a later loss or replacement would have ended the meeting.
  if (recovery && !answers.empty() && answers.front().status.ok()) arbiter_->MadeGood();
  Append(std::move(answers), effects);
}

void Job::CallCancelled(uint64_t call) {
  if (meetings_.has_value()) meetings_->Withdraw(call);
}

void Job::ReportFailure(const MemberId& who, const FailureReport& report, absl::Time now,
                        Effects* effects) {
  arbiter_->Reported(who, report, now);
  Settle(now, effects);
}

void Job::Leave(const MemberId& who, absl::Time now, Effects* effects) {
  arbiter_->Left(who);
  Append(meetings_->MemberLeft(who), effects);
  Settle(now, effects);
}

void Job::ReportExit(const MemberId& id, const std::string& how, absl::Time now, Effects* effects) {
  if (complete()) {
    if (arbiter_->knows(id)) arbiter_->Exited(id, how);
  } else if (!early_verdict_.has_value()) {
    early_verdict_.emplace();
    *early_verdict_->mutable_culprit() = id;
    early_verdict_->set_reason(
        absl::StrCat(ToString(id), " was lost before all had joined: ", how));
  }
  Settle(now, effects);
}

void Job::ReportRestart(const MemberId& id, const std::string& how, absl::Time now,
                        Effects* effects) {
  if (!complete()) return ReportExit(id, how, now, effects);
  if (arbiter_->knows(id)) arbiter_->Restarted(id, how, now);
  Settle(now, effects);
}

void Job::Tick(absl::Time now, Effects* effects) {
  if (complete()) {
    Append(meetings_->Expire(now), effects);
    arbiter_->Tick(now);
  } else {
    for (Rendezvous::Dismissal& dismissal : rendezvous_.Expire(now)) {
      waiting_.erase(std::find(waiting_.begin(), waiting_.end(), dismissal.session));
      effects->joins.push_back({dismissal.session, std::move(dismissal.status)});
    }
  }
  Settle(now, effects);
  DismissCandidates(now, effects);
}

void Job::Settle(absl::Time now, Effects* effects) {
  if (arbiter_.has_value()) {
    for (const ShardReplacements::Loss& loss : arbiter_->TakeLosses()) FollowUp(loss, now, effects);
  }
  const absl::optional<Verdict> verdict = this->verdict();
  if (settled_ || !verdict.has_value()) return;
  settled_ = true;
  effects->verdict_is_new = true;
  const absl::Status status = ToStatus(*verdict);
  for (uint64_t session : waiting_) {
    effects->joins.push_back({session, status});
    rendezvous_.Withdraw(session);
  }
  waiting_.clear();
  for (const auto& [id, candidate] : candidates_) {
    effects->joins.push_back({candidate.session, status});
  }
  candidates_.clear();
  if (meetings_.has_value()) Append(meetings_->FailAll(status), effects);
}

void Job::FollowUp(const ShardReplacements::Loss& loss, absl::Time now, Effects* effects) {
  // Never two at once: the process, should it be alive, has no say any more.
  const uint64_t session = rendezvous_.SessionOf(loss.shard);
  sessions_.erase(session);
  const std::string what =
      absl::StrCat(ToString(loss.shard), " was lost at step ", loss.step, ": ", loss.why);
  Dismissal dismissal;
  dismissal.session = session;
  *dismissal.verdict.mutable_culprit() = loss.shard;
  dismissal.verdict.set_step(loss.step);
  dismissal.verdict.set_reason(absl::StrCat(what, "; another process is to take its place"));
  effects->dismissals.push_back(std::move(dismissal));
  effects->remarks.push_back(absl::StrCat(
      what, "; a replacement may join within ", absl::FormatDuration(tolerated_.timeout), " (loss ",
      loss.number, " of ", tolerated_.restarts, " that are tolerated)"));
  Append(meetings_->MemberLost(loss.shard), effects);
  const auto candidate = candidates_.find(loss.shard);
  if (candidate == candidates_.end() || !arbiter_->Awaits(loss.shard)) return;
  const Candidate successor = candidate->second;
  candidates_.erase(candidate);
  Replace(successor.request, successor.session, now, effects);
}

void Job::Append(std::vector<MeetingAnswer> answers, Effects* effects) {
  for (MeetingAnswer& answer : answers) effects->meetings.push_back(std::move(answer));
}

absl::optional<Verdict> Job::verdict() const {
  return arbiter_.has_value() ? arbiter_->verdict() : early_verdict_;
}

bool Job::Ended() const {
  return arbiter_.has_value() ? arbiter_->AllEnded() : early_verdict_.has_value();
}

std::vector<Job::MemberState> Job::Members() const {
  std::vector<MemberState> states;
  if (!complete()) return states;
  for (const Member& member : rendezvous_.Members()) {
    const MemberId& id = member.id();
    states.push_back(
        {member, arbiter_->progress(id), arbiter_->has_left(id), arbiter_->Awaits(id)});
  }
  return states;
}

}  // namespace ringside
