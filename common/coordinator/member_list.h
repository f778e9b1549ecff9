// The order of a job's members and how lists of them read in messages. Pure.
#ifndef RINGSIDE_COMMON_COORDINATOR_MEMBER_LIST_H_
#define RINGSIDE_COMMON_COORDINATOR_MEMBER_LIST_H_

#include <string>
#include <vector>

#include "coordinator.pb.h"

namespace ringside {

// Workers before shards, each by rank.
struct MemberOrder {
  bool operator()(const MemberId& a, const MemberId& b) const {
    return a.role() != b.role() ? a.role() < b.role() : a.rank() < b.rank();
  }
};

bool SameMember(const MemberId& a, const MemberId& b);
bool SameMembers(const std::vector<MemberId>& a, const std::vector<MemberId>& b);
bool Contains(const std::vector<MemberId>& members, const MemberId& id);

// Sorted, with runs of three and more drawn together: "worker 0, workers 3-7, shard 0"; "nobody"
// for an empty list.
std::string DescribeMembers(std::vector<MemberId> members);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_MEMBER_LIST_H_
