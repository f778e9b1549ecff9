#include "common/coordinator/rendezvous.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/check.h"
#include "common/parameter_spec.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// Slots are listed one by one; a typing error in a flag must not cost memory.
constexpr int kMaxMembersPerRole = 65536;
constexpr size_t kMaxRefusalsShown = 3;

absl::Status Refused(absl::string_view message) { return absl::FailedPreconditionError(message); }

// Takes the same time wherever the texts differ.
bool SameToken(absl::string_view a, absl::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

std::string ToString(const ParameterDescription& parameter) {
  ParameterSpec spec;
  spec.name = parameter.name();
  spec.shape.assign(parameter.shape().begin(), parameter.shape().end());
  spec.dtype = parameter.dtype();
  return ringside::ToString(spec);
}

bool SameParameter(const ParameterDescription& a, const ParameterDescription& b) {
  return a.name() == b.name() && a.dtype() == b.dtype() &&
         std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end());
}

std::string DescribeProcess(const Member& member) {
  return absl::StrCat(ringside::ToString(member.id()), " has already joined (host ",
                      member.host().hostname().empty() ? "unknown" : member.host().hostname(),
                      ", pid ", member.pid(), ")");
}

std::vector<MemberId> Slots(Role role, int count) {
  std::vector<MemberId> slots;
  for (int rank = 0; rank < count; ++rank) {
    slots.push_back(role == ROLE_WORKER ? WorkerId(rank) : ShardId(rank));
  }
  return slots;
}

}  // namespace

absl::StatusOr<Rendezvous::Admission> Rendezvous::Join(const JoinRequest& request, uint64_t session,
                                                       absl::Time now) {
  const MemberId& id = request.member().id();
  RINGSIDE_RETURN_IF_ERROR(CheckToken(request));
  const auto present = joiners_.find(id);
  const bool again = present != joiners_.end() && IsSameProcess(request);
  Admission admission;
  if (again && complete_) {
    admission.session = present->second.session;
    return admission;
  }
  if (again) {
    admission.replaced = present->second.session;
    Remove(id);
  }
  const absl::Status fits = Check(request);
  if (!fits.ok()) {
    if (!complete_ && Contains(Missing(), id)) refusals_[id] = std::string(fits.message());
    return fits;
  }
  Joiner& joiner = joiners_[id];
  joiner.session = session;
  joiner.request = request;
  joiner.deadline = now + (request.timeout_ms() > 0 ? absl::Milliseconds(request.timeout_ms())
                                                    : config_.join_timeout);
  Fix(request);
  refusals_.erase(id);
  complete_ = Missing().empty();
  admission.session = session;
  return admission;
}

absl::Status Rendezvous::CheckReplacement(const JoinRequest& request) const {
  RINGSIDE_CHECK(complete_);
  RINGSIDE_RETURN_IF_ERROR(CheckToken(request));
  RINGSIDE_RETURN_IF_ERROR(CheckSizes(request));
  RINGSIDE_RETURN_IF_ERROR(CheckSlot(request));
  return CheckAgreement(request);
}

void Rendezvous::Replace(const JoinRequest& request, uint64_t session, uint32_t recovery) {
  Joiner& joiner = joiners_.at(request.member().id());
  joiner.session = session;
  joiner.request = request;
  recovery_ = recovery;
  Fix(request);
}

bool Rendezvous::IsSameProcess(const JoinRequest& request) const {
  return request.incarnation() != 0 &&
         request.incarnation() == joiners_.at(request.member().id()).request.incarnation();
}

absl::Status Rendezvous::Taken(const MemberId& id) const {
  return Refused(absl::StrCat(complete_ ? "the job is complete: " : "duplicate rank: ",
                              DescribeProcess(joiners_.at(id).request.member())));
}

absl::Status Rendezvous::CheckToken(const JoinRequest& request) const {
  if (SameToken(request.token(), config_.token)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(ringside::ToString(request.member().id()),
                   " has the wrong token: it belongs to another job, or ",
                   "--token (RINGSIDE_TOKEN) is not what the coordinator was started with"));
}

absl::Status Rendezvous::Check(const JoinRequest& request) const {
  RINGSIDE_RETURN_IF_ERROR(CheckSizes(request));
  RINGSIDE_RETURN_IF_ERROR(CheckSlot(request));
  if (joiners_.count(request.member().id()) > 0) return Taken(request.member().id());
  return CheckAgreement(request);
}

absl::Status Rendezvous::CheckAgreement(const JoinRequest& request) const {
  // A hash only tells that something differs: whatever tells what comes first.
  RINGSIDE_RETURN_IF_ERROR(CheckSettings(request, /*hashes=*/false));
  RINGSIDE_RETURN_IF_ERROR(CheckParameters(request));
  return CheckSettings(request, /*hashes=*/true);
}

absl::Status Rendezvous::CheckSizes(const JoinRequest& request) const {
  const std::string who = ringside::ToString(request.member().id());
  if (request.world_size() < 1 || request.world_size() > kMaxMembersPerRole) {
    return Refused(absl::StrCat(who, " expects ", request.world_size(),
                                " workers: must be from 1 to ", kMaxMembersPerRole));
  }
  if (request.num_shards() < 0 || request.num_shards() > kMaxMembersPerRole) {
    return Refused(absl::StrCat(who, " expects ", request.num_shards(),
                                " shards: must be from 0 to ", kMaxMembersPerRole));
  }
  const auto differs = [this, &who](absl::string_view what, int theirs, int expected,
                                    bool configured) {
    return Refused(
        absl::StrCat(who, " expects ", theirs, " ", what, ", ",
                     configured ? "the coordinator was started for "
                                : absl::StrCat(ringside::ToString(*sizes_origin_), " joined with "),
                     expected));
  };
  const bool any = sizes_origin_.has_value();
  if ((config_.world_size > 0 || any) && request.world_size() != ExpectedWorkers()) {
    return differs("workers", request.world_size(), ExpectedWorkers(), config_.world_size > 0);
  }
  if ((config_.num_shards >= 0 || any) && request.num_shards() != ExpectedShards()) {
    return differs("shards", request.num_shards(), ExpectedShards(), config_.num_shards >= 0);
  }
  return absl::OkStatus();
}

absl::Status Rendezvous::CheckSlot(const JoinRequest& request) {
  const MemberId& id = request.member().id();
  if (id.role() != ROLE_WORKER && id.role() != ROLE_SHARD) {
    return Refused(
        absl::StrCat("a process without a role (", static_cast<int>(id.role()), ") asks to join"));
  }
  const bool worker = id.role() == ROLE_WORKER;
  const int count = worker ? request.world_size() : request.num_shards();
  if (id.rank() < 0 || id.rank() >= count) {
    return Refused(absl::StrCat(ringside::ToString(id), " is out of range: there are ", count,
                                worker ? " workers" : " shards", ", counted from 0"));
  }
  return absl::OkStatus();
}

absl::Status Rendezvous::CheckSettings(const JoinRequest& request, bool hashes) const {
  std::vector<std::string> differences;
  for (const auto& [key, setting] : settings_) {
    const auto theirs = request.settings().find(key);
    if (theirs == request.settings().end() || theirs->second == setting.value) continue;
    if (absl::EndsWith(key, "_sha256") != hashes) continue;
    differences.push_back(absl::StrCat(ringside::ToString(request.member().id()), " has ", key, "=",
                                       theirs->second, ", ", ringside::ToString(setting.origin),
                                       " joined with ", setting.value));
  }
  return differences.empty() ? absl::OkStatus() : Refused(absl::StrJoin(differences, "; "));
}

absl::Status Rendezvous::CheckParameters(const JoinRequest& request) const {
  if (request.member().id().role() != ROLE_WORKER || !parameters_origin_.has_value()) {
    return absl::OkStatus();
  }
  const auto& own = request.parameters();
  const auto& theirs = joiners_.at(*parameters_origin_).request.parameters();
  const std::string who = ringside::ToString(request.member().id());
  const std::string other = ringside::ToString(*parameters_origin_);
  for (int i = 0; i < std::min(own.size(), theirs.size()); ++i) {
    if (SameParameter(own[i], theirs[i])) continue;
    return Refused(absl::StrCat("the models differ: parameter ", i, " of ", who, " is ",
                                ToString(own[i]), ", of ", other, " ", ToString(theirs[i])));
  }
  if (own.size() == theirs.size()) return absl::OkStatus();
  const auto& longer = own.size() > theirs.size() ? own : theirs;
  const int first = std::min(own.size(), theirs.size());
  return Refused(absl::StrCat("the models differ: ", who, " has ", own.size(), " parameters, ",
                              other, " ", theirs.size(), "; parameter ", first, " (",
                              ToString(longer[first]), ") is only with ",
                              own.size() > theirs.size() ? who : other));
}

void Rendezvous::Fix(const JoinRequest& request) {
  const MemberId& id = request.member().id();
  if (!sizes_origin_.has_value()) sizes_origin_ = id;
  if (!parameters_origin_.has_value() && id.role() == ROLE_WORKER) parameters_origin_ = id;
  for (const auto& [key, value] : request.settings()) {
    settings_.emplace(key, Setting{value, id});
  }
}

void Rendezvous::Remove(const MemberId& id) {
  joiners_.erase(id);
  settings_.clear();
  sizes_origin_.reset();
  parameters_origin_.reset();
  for (const auto& [unused, joiner] : joiners_) Fix(joiner.request);
  if (joiners_.empty()) refusals_.clear();  // they were measured against somebody who is gone
}

void Rendezvous::Withdraw(uint64_t session) {
  if (complete_) return;
  const auto joiner = std::find_if(joiners_.begin(), joiners_.end(), [session](const auto& entry) {
    return entry.second.session == session;
  });
  if (joiner != joiners_.end()) Remove(MemberId(joiner->first));
}

std::vector<Rendezvous::Dismissal> Rendezvous::Expire(absl::Time now) {
  std::vector<Dismissal> dismissals;
  if (complete_) return dismissals;
  std::vector<MemberId> expired;
  for (const auto& [id, joiner] : joiners_) {
    if (joiner.deadline > now) continue;
    expired.push_back(id);
    absl::Status status = absl::DeadlineExceededError(absl::StrCat(
        ringside::ToString(id), " waited in vain for the others to join: ", Progress()));
    dismissals.push_back({joiner.session, WithSuspects(std::move(status), Missing())});
  }
  for (const MemberId& id : expired) Remove(id);
  return dismissals;
}

int Rendezvous::ExpectedWorkers() const {
  if (config_.world_size > 0) return config_.world_size;
  return sizes_origin_.has_value() ? joiners_.at(*sizes_origin_).request.world_size() : 0;
}

int Rendezvous::ExpectedShards() const {
  if (config_.num_shards >= 0) return config_.num_shards;
  return sizes_origin_.has_value() ? joiners_.at(*sizes_origin_).request.num_shards() : 0;
}

std::vector<MemberId> Rendezvous::Missing() const {
  std::vector<MemberId> missing;
  for (const Role role : {ROLE_WORKER, ROLE_SHARD}) {
    for (const MemberId& id :
         Slots(role, role == ROLE_WORKER ? ExpectedWorkers() : ExpectedShards())) {
      if (joiners_.count(id) == 0) missing.push_back(id);
    }
  }
  return missing;
}

std::string Rendezvous::Progress() const {
  std::vector<MemberId> present;
  for (const auto& [id, joiner] : joiners_) present.push_back(id);
  std::string text = absl::StrCat("have ", DescribeMembers(present));
  const std::vector<MemberId> missing = Missing();
  if (!missing.empty()) absl::StrAppend(&text, "; missing ", DescribeMembers(missing));
  size_t shown = 0;
  for (const auto& [id, message] : refusals_) {
    if (++shown > kMaxRefusalsShown) break;
    absl::StrAppend(&text, "; refused: ", message);
  }
  return text;
}

std::vector<Member> Rendezvous::Members() const {
  std::vector<Member> members;
  for (const auto& [id, joiner] : joiners_) members.push_back(joiner.request.member());
  return members;
}

Membership Rendezvous::MembershipFor(uint64_t session) const {
  RINGSIDE_CHECK(complete_);
  Membership membership;
  membership.set_generation(generation());
  membership.set_session(session);
  membership.set_lease_ms(absl::ToInt64Milliseconds(config_.lease));
  membership.set_recovery(recovery_);
  membership.set_restart_timeout_ms(absl::ToInt64Milliseconds(config_.restart_timeout));
  for (const auto& [id, joiner] : joiners_) {
    *(id.role() == ROLE_WORKER ? membership.add_workers() : membership.add_shards()) =
        joiner.request.member();
  }
  for (const auto& [key, setting] : settings_) {
    (*membership.mutable_settings())[key] = setting.value;
  }
  if (parameters_origin_.has_value()) {
    *membership.mutable_parameters() = joiners_.at(*parameters_origin_).request.parameters();
  }
  return membership;
}

}  // namespace ringside
