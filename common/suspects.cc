#include "common/suspects.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ringside {
namespace {

constexpr char kPayloadUrl[] = "ringside/suspects";

MemberId MakeId(Role role, int rank) {
  MemberId id;
  id.set_role(role);
  id.set_rank(rank);
  return id;
}

}  // namespace

MemberId WorkerId(int rank) { return MakeId(ROLE_WORKER, rank); }
MemberId ShardId(int shard) { return MakeId(ROLE_SHARD, shard); }

std::string ToString(const MemberId& id) {
  switch (id.role()) {
    case ROLE_WORKER:
      return absl::StrCat("worker ", id.rank());
    case ROLE_SHARD:
      return absl::StrCat("shard ", id.rank());
    default:
      return "the coordinator";
  }
}

std::string ToString(const std::vector<MemberId>& ids) {
  return absl::StrJoin(ids, ", ",
                       [](std::string* out, const MemberId& id) { out->append(ToString(id)); });
}

absl::Status WithSuspects(absl::Status status, const std::vector<MemberId>& suspects) {
  FailureReport report;
  for (const MemberId& id : suspects) *report.add_suspects() = id;
  status.SetPayload(kPayloadUrl, absl::Cord(report.SerializeAsString()));
  return status;
}

std::vector<MemberId> SuspectsOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayloadUrl);
  FailureReport report;
  if (!payload.has_value() || !report.ParseFromString(std::string(*payload))) return {};
  return {report.suspects().begin(), report.suspects().end()};
}

}  // namespace ringside
