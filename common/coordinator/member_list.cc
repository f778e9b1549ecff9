#include "common/coordinator/member_list.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/suspects.h"

namespace ringside {
namespace {

constexpr size_t kShortestRun = 3;

}  // namespace

bool SameMember(const MemberId& a, const MemberId& b) {
  return a.role() == b.role() && a.rank() == b.rank();
}

bool SameMembers(const std::vector<MemberId>& a, const std::vector<MemberId>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameMember);
}

bool Contains(const std::vector<MemberId>& members, const MemberId& id) {
  return std::any_of(members.begin(), members.end(),
                     [&id](const MemberId& member) { return SameMember(member, id); });
}

std::string DescribeMembers(std::vector<MemberId> members) {
  if (members.empty()) return "nobody";
  std::sort(members.begin(), members.end(), MemberOrder());
  std::string text;
  for (size_t first = 0; first < members.size();) {
    size_t last = first;
    while (last + 1 < members.size() && members[last + 1].role() == members[first].role() &&
           members[last + 1].rank() == members[last].rank() + 1) {
      ++last;
    }
    if (last - first + 1 < kShortestRun) last = first;
    if (!text.empty()) text += ", ";
    if (last == first) {
      absl::StrAppend(&text, ToString(members[first]));
    } else {
      absl::StrAppend(&text, members[first].role() == ROLE_WORKER ? "workers " : "shards ",
                      members[first].rank(), "-", members[last].rank());
    }
    first = last + 1;
  }
  return text;
}

}  // namespace ringside
