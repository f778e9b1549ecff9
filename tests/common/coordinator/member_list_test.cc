#include "common/coordinator/member_list.h"

#include <gtest/gtest.h>

#include "common/suspects.h"

namespace ringside {
namespace {

TEST(DescribeMembersTest, DrawsRunsTogether) {
  EXPECT_EQ(DescribeMembers({}), "nobody");
  EXPECT_EQ(DescribeMembers({WorkerId(1), WorkerId(0)}), "worker 0, worker 1");
  EXPECT_EQ(DescribeMembers({WorkerId(0), WorkerId(1), WorkerId(2)}), "workers 0-2");
  EXPECT_EQ(DescribeMembers({ShardId(1), WorkerId(7), WorkerId(4), ShardId(0), WorkerId(5),
                             ShardId(2), WorkerId(6), WorkerId(0)}),
            "worker 0, workers 4-7, shards 0-2");
  EXPECT_EQ(DescribeMembers({WorkerId(1), WorkerId(2), ShardId(3)}), "worker 1, worker 2, shard 3");
}

TEST(MemberListTest, ComparesRoleAndRank) {
  EXPECT_TRUE(SameMember(WorkerId(1), WorkerId(1)));
  EXPECT_FALSE(SameMember(WorkerId(1), ShardId(1)));
  EXPECT_FALSE(SameMember(WorkerId(1), WorkerId(2)));
  EXPECT_TRUE(SameMembers({WorkerId(0), ShardId(0)}, {WorkerId(0), ShardId(0)}));
  EXPECT_FALSE(SameMembers({WorkerId(0), ShardId(0)}, {ShardId(0), WorkerId(0)}));
  EXPECT_FALSE(SameMembers({WorkerId(0)}, {WorkerId(0), ShardId(0)}));
  EXPECT_TRUE(Contains({WorkerId(0), ShardId(2)}, ShardId(2)));
  EXPECT_FALSE(Contains({WorkerId(0), ShardId(2)}, WorkerId(2)));
}

}  // namespace
}  // namespace ringside
