#include "common/coordinator/job.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/coordinator/verdict.h"
#include "common/suspects.h"

namespace ringside {

absl::StatusOr<uint64_t> Job::Join(const JoinRequest& request, uint64_t session, absl::Time now,
                                   Effects* effects) {
  if (verdict().has_value()) return ToStatus(*verdict());
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
    arbiter_.emplace(config_.lease, ids, now);
    for (const Member& member : rendezvous_.Members()) {
      sessions_[rendezvous_.SessionOf(member.id())] = member.id();
    }
  }
  for (uint64_t session : waiting_) {
    effects->joins.push_back({session, rendezvous_.MembershipFor(session)});
  }
  waiting_.clear();
}

void Job::JoinCancelled(uint64_t session) {
  const auto waiting = std::find(waiting_.begin(), waiting_.end(), session);
  if (waiting == waiting_.end()) return;
  waiting_.erase(waiting);
  rendezvous_.Withdraw(session);
}

absl::StatusOr<MemberId> Job::IdentifySession(uint64_t session) const {
  const auto known = sessions_.find(session);
  if (known != sessions_.end()) return known->second;
  return absl::UnauthenticatedError("the caller's session is unknown to this coordinator");
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

void Job::SessionClosed(const MemberId& who, Effects* effects) {
  arbiter_->SessionClosed(who);
  Settle(effects);
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
  effects->meetings = meetings_->Arrive(call, who, std::move(contribution), now, timeout);
}

void Job::CallCancelled(uint64_t call) {
  if (meetings_.has_value()) meetings_->Withdraw(call);
}

void Job::ReportFailure(const MemberId& who, const FailureReport& report, absl::Time now,
                        Effects* effects) {
  arbiter_->Reported(who, report, now);
  Settle(effects);
}

void Job::Leave(const MemberId& who, Effects* effects) {
  arbiter_->Left(who);
  effects->meetings = meetings_->MemberLeft(who);
}

void Job::ReportExit(const MemberId& id, const std::string& how, Effects* effects) {
  if (complete()) {
    const std::vector<Member> members = rendezvous_.Members();
    const bool known = std::any_of(members.begin(), members.end(), [&id](const Member& member) {
      return SameMember(member.id(), id);
    });
    if (known) arbiter_->Exited(id, how);
  } else if (!early_verdict_.has_value()) {
    early_verdict_.emplace();
    *early_verdict_->mutable_culprit() = id;
    early_verdict_->set_reason(
        absl::StrCat(ToString(id), " was lost before all had joined: ", how));
  }
  Settle(effects);
}

void Job::Tick(absl::Time now, Effects* effects) {
  if (complete()) {
    effects->meetings = meetings_->Expire(now);
    arbiter_->Tick(now);
  } else {
    for (Rendezvous::Dismissal& dismissal : rendezvous_.Expire(now)) {
      waiting_.erase(std::find(waiting_.begin(), waiting_.end(), dismissal.session));
      effects->joins.push_back({dismissal.session, std::move(dismissal.status)});
    }
  }
  Settle(effects);
}

void Job::Settle(Effects* effects) {
  const absl::optional<Verdict> now = verdict();
  if (settled_ || !now.has_value()) return;
  settled_ = true;
  effects->verdict_is_new = true;
  for (uint64_t session : waiting_) {
    effects->joins.push_back({session, ToStatus(*now)});
    rendezvous_.Withdraw(session);
  }
  waiting_.clear();
  if (!meetings_.has_value()) return;
  for (MeetingAnswer& answer : meetings_->FailAll(ToStatus(*now))) {
    effects->meetings.push_back(std::move(answer));
  }
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
    states.push_back({member, arbiter_->progress(member.id()), arbiter_->has_left(member.id())});
  }
  return states;
}

}  // namespace ringside
