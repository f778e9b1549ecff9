#include "common/coordinator/meeting.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/suspects.h"

namespace ringside {
namespace {

constexpr absl::string_view kRecoveryPrefix = "recovery-";

// k of "recovery-<k>..."; the largest number where there is none.
uint64_t RecoveryNumber(absl::string_view name) {
  absl::ConsumePrefix(&name, kRecoveryPrefix);
  constexpr uint64_t kLargest = std::numeric_limits<uint32_t>::max();
  if (name.empty() || !absl::ascii_isdigit(name.front())) return kLargest;
  uint64_t number = 0;
  while (!name.empty() && absl::ascii_isdigit(name.front()) && number < kLargest) {
    number = 10 * number + (name.front() - '0');
    name.remove_prefix(1);
  }
  return std::min(number, kLargest);
}

std::string Describe(MeetingKind kind, const std::string& name) {
  switch (kind) {
    case MeetingKind::kBarrier:
      return absl::StrCat("barrier \"", name, "\"");
    case MeetingKind::kReduce:
      return absl::StrCat("reduction \"", name, "\"");
    case MeetingKind::kGather:
      return absl::StrCat("gather \"", name, "\"");
    case MeetingKind::kGatherForAll:
      return absl::StrCat("gather for all \"", name, "\"");
  }
  return name;
}

MeetingAnswer Answer(uint64_t call, absl::Status status) {
  MeetingAnswer answer;
  answer.call = call;
  answer.status = std::move(status);
  return answer;
}

absl::Status Lost(MeetingKind kind, const std::string& name, const MemberId& member) {
  return WithSuspects(
      absl::AbortedError(absl::StrCat(Describe(kind, name), ": ", ToString(member), " was lost")),
      {member});
}

// Overflow wraps, as in hardware, instead of being undefined.
int64_t WrappingSum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

bool IsRecovery(absl::string_view name) { return absl::StartsWith(name, kRecoveryPrefix); }

std::vector<MeetingAnswer> Meetings::Arrive(uint64_t call, const MemberId& who,
                                            Contribution contribution, absl::Time now,
                                            absl::Duration timeout) {
  absl::Status own = CheckCaller(who, contribution);
  if (!own.ok()) return {Answer(call, std::move(own))};
  const std::string name = contribution.name;
  const auto closed = closed_.find(name);
  if (closed != closed_.end() && !closed->second.ok()) return {Answer(call, closed->second)};
  if (closed != closed_.end()) {
    return {Answer(call, absl::InvalidArgumentError(
                             absl::StrCat(Describe(contribution.kind, name), ": ", ToString(who),
                                          " uses a name that has been used already")))};
  }
  const absl::Status current = CheckRecovery(contribution);
  if (!current.ok()) return {Answer(call, current)};
  Meeting& meeting = open_[name];
  if (meeting.arrivals.empty()) {
    meeting.kind = contribution.kind;
    meeting.members = contribution.members;
  }
  if (meeting.arrivals.count(who) > 0) {
    return {
        Answer(call, absl::InvalidArgumentError(absl::StrCat(Describe(meeting.kind, name), ": ",
                                                             ToString(who), " is there already")))};
  }
  const absl::Status fits = CheckAgainst(meeting, who, contribution);
  Arrival arrival;
  arrival.call = call;
  arrival.contribution = std::move(contribution);
  arrival.timeout = timeout;
  arrival.deadline = now + timeout;
  meeting.arrivals.emplace(who, std::move(arrival));
  if (!fits.ok()) return Fail(name, fits);
  if (!Missing(meeting).empty()) return {};
  std::vector<MeetingAnswer> answers = Complete(meeting);
  open_.erase(name);
  closed_.emplace(name, absl::OkStatus());
  return answers;
}

absl::Status Meetings::CheckCaller(const MemberId& who, const Contribution& contribution) const {
  const auto invalid = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(contribution.kind, contribution.name), ": ", why));
  };
  const std::vector<MemberId>& members = contribution.members;
  if (contribution.name.empty()) return invalid("a meeting must have a name");
  if (!Contains(members, who)) {
    return invalid(absl::StrCat(ToString(who), " does not name itself among the members (",
                                DescribeMembers(members), ")"));
  }
  std::set<MemberId, MemberOrder> distinct;
  for (const MemberId& member : members) {
    if (!distinct.insert(member).second) {
      return invalid(absl::StrCat(ToString(who), " names ", ToString(member), " twice"));
    }
  }
  const std::set<MemberId, MemberOrder> known(job_members_.begin(), job_members_.end());
  for (const MemberId& member : members) {
    if (known.count(member) > 0) continue;
    return invalid(absl::StrCat(ToString(who), " names ", ToString(member),
                                ", who is not a member of the job"));
  }
  return absl::OkStatus();
}

absl::Status Meetings::CheckAgainst(const Meeting& meeting, const MemberId& who,
                                    const Contribution& contribution) const {
  const auto differ = [&](absl::string_view why) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(meeting.kind, contribution.name), ": ", why));
  };
  for (const MemberId& member : meeting.members) {
    if (left_.count(member) > 0) return differ(absl::StrCat(ToString(member), " has left the job"));
  }
  if (meeting.arrivals.empty()) return absl::OkStatus();
  const auto& [first_id, first] = *meeting.arrivals.begin();
  const Contribution& theirs = first.contribution;
  if (contribution.kind != meeting.kind) {
    return differ(absl::StrCat(ToString(who), " comes for a ",
                               Describe(contribution.kind, contribution.name)));
  }
  if (!SameMembers(contribution.members, meeting.members)) {
    return differ(absl::StrCat("the member lists differ: ", ToString(who), " names ",
                               ToString(contribution.members), "; ", ToString(first_id), " ",
                               ToString(meeting.members)));
  }
  if (contribution.integers.size() != theirs.integers.size() ||
      contribution.doubles.size() != theirs.doubles.size()) {
    return differ(absl::StrCat("the lengths differ: ", ToString(who), " brings ",
                               contribution.integers.size(), " integers and ",
                               contribution.doubles.size(), " doubles; ", ToString(first_id), " ",
                               theirs.integers.size(), " and ", theirs.doubles.size()));
  }
  return absl::OkStatus();
}

absl::Status Meetings::CheckRecovery(const Contribution& contribution) const {
  if (!IsRecovery(contribution.name)) return absl::OkStatus();
  for (const MemberId& member : contribution.members) {
    if (lost_.count(member) > 0) return Lost(contribution.kind, contribution.name, member);
  }
  if (RecoveryNumber(contribution.name) >= recovery_) return absl::OkStatus();
  return Lost(contribution.kind, contribution.name, replaced_);
}

std::vector<MemberId> Meetings::Missing(const Meeting& meeting) {
  std::vector<MemberId> missing;
  for (const MemberId& member : meeting.members) {
    if (meeting.arrivals.count(member) == 0) missing.push_back(member);
  }
  return missing;
}

std::vector<MeetingAnswer> Meetings::Complete(const Meeting& meeting) {
  // The fold starts from the first member's own values, never from zero: -0.0 survives.
  const Contribution& first = meeting.arrivals.at(meeting.members.front()).contribution;
  std::vector<int64_t> integers = first.integers;
  std::vector<double> doubles = first.doubles;
  std::vector<std::string> blobs;
  for (size_t i = 0; i < meeting.members.size(); ++i) {
    const Contribution& next = meeting.arrivals.at(meeting.members[i]).contribution;
    blobs.push_back(next.blob);
    if (i == 0) continue;
    for (size_t k = 0; k < integers.size(); ++k) {
      integers[k] = WrappingSum(integers[k], next.integers[k]);
    }
    for (size_t k = 0; k < doubles.size(); ++k) doubles[k] += next.doubles[k];
  }
  std::vector<MeetingAnswer> answers;
  for (const MemberId& member : meeting.members) {
    MeetingAnswer answer = Answer(meeting.arrivals.at(member).call, absl::OkStatus());
    if (meeting.kind == MeetingKind::kReduce) {
      answer.integers = integers;
      answer.doubles = doubles;
    }
    if (meeting.kind == MeetingKind::kGatherForAll) {
      answer.blobs = blobs;
    } else if (meeting.kind == MeetingKind::kGather && answers.empty()) {
      answer.blobs = std::move(blobs);
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<MeetingAnswer> Meetings::Fail(const std::string& name, const absl::Status& status) {
  std::vector<MeetingAnswer> answers;
  for (const auto& [who, arrival] : open_[name].arrivals) {
    answers.push_back(Answer(arrival.call, status));
  }
  open_.erase(name);
  closed_.emplace(name, status);
  return answers;
}

void Meetings::Withdraw(uint64_t call) {
  for (auto& [name, meeting] : open_) {
    for (auto arrival = meeting.arrivals.begin(); arrival != meeting.arrivals.end(); ++arrival) {
      if (arrival->second.call != call) continue;
      meeting.arrivals.erase(arrival);
      if (meeting.arrivals.empty()) open_.erase(std::string(name));
      return;
    }
  }
}

std::vector<MeetingAnswer> Meetings::MemberLeft(const MemberId& who) {
  left_.insert(who);
  std::vector<std::string> hopeless;
  for (const auto& [name, meeting] : open_) {
    if (Contains(Missing(meeting), who)) hopeless.push_back(name);
  }
  std::vector<MeetingAnswer> answers;
  for (const std::string& name : hopeless) {
    const absl::Status status = absl::FailedPreconditionError(
        absl::StrCat(Describe(open_[name].kind, name), ": ", ToString(who), " has left the job"));
    for (MeetingAnswer& answer : Fail(name, status)) answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<MeetingAnswer> Meetings::MemberLost(const MemberId& who) {
  lost_.insert(who);
  std::vector<MeetingAnswer> answers;
  std::vector<std::string> over;
  for (auto meeting = open_.begin(); meeting != open_.end();) {
    const std::string& name = meeting->first;
    auto& [kind, members, arrivals] = meeting->second;
    const auto arrival = arrivals.find(who);
    if (arrival != arrivals.end()) {
      answers.push_back(Answer(arrival->second.call, Lost(kind, name, who)));
      arrivals.erase(arrival);
    }
    if (IsRecovery(name) && Contains(members, who)) over.push_back(name);
    meeting = arrivals.empty() && !IsRecovery(name) ? open_.erase(meeting) : std::next(meeting);
  }
  for (const std::string& name : over) {
    for (MeetingAnswer& answer : Fail(name, Lost(open_[name].kind, name, who))) {
      answers.push_back(std::move(answer));
    }
  }
  return answers;
}

std::vector<MeetingAnswer> Meetings::MemberReplaced(const MemberId& who, uint32_t recovery) {
  lost_.erase(who);
  recovery_ = recovery;
  replaced_ = who;
  std::vector<std::string> over;
  for (const auto& [name, meeting] : open_) {
    if (IsRecovery(name) && RecoveryNumber(name) < recovery) over.push_back(name);
  }
  std::vector<MeetingAnswer> answers;
  for (const std::string& name : over) {
    for (MeetingAnswer& answer : Fail(name, Lost(open_[name].kind, name, who))) {
      answers.push_back(std::move(answer));
    }
  }
  return answers;
}

std::vector<MeetingAnswer> Meetings::Expire(absl::Time now) {
  std::map<std::string, absl::Status> expired;
  for (const auto& [name, meeting] : open_) {
    for (const auto& [who, arrival] : meeting.arrivals) {
      if (arrival.deadline > now) continue;
      const std::vector<MemberId> missing = Missing(meeting);
      expired[name] = WithSuspects(
          absl::DeadlineExceededError(absl::StrCat(
              Describe(meeting.kind, name), ": ", ToString(who), " waited ",
              absl::FormatDuration(arrival.timeout), " for ", DescribeMembers(missing))),
          missing);
      break;
    }
  }
  std::vector<MeetingAnswer> answers;
  for (const auto& [name, status] : expired) {
    for (MeetingAnswer& answer : Fail(name, status)) answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<MeetingAnswer> Meetings::FailAll(const absl::Status& status) {
  std::vector<MeetingAnswer> answers;
  while (!open_.empty()) {
    for (MeetingAnswer& answer : Fail(std::string(open_.begin()->first), status)) {
      answers.push_back(std::move(answer));
    }
  }
  return answers;
}

}  // namespace ringside
