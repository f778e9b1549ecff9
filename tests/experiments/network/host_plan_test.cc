#include "experiments/network/host_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/suspects.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

JobConfig Job(const std::string& strategy, int workers, int shards,
              const std::string& placement = "dedicated") {
  JobConfig job;
  job.strategy = strategy;
  job.workers = workers;
  job.ps_shards = shards;
  job.placement = placement;
  job.network = "1gbit";
  job.steps = 1;
  EXPECT_TRUE(job.Validate().ok()) << job.Validate();
  return job;
}

std::vector<std::string> Names(const JobConfig& job) { return HostNames(PlanHosts(job)); }

TEST(HostPlanTest, DedicatedGivesEveryProcessAHost) {
  EXPECT_THAT(Names(Job("ring", 3, 2)), ElementsAre("worker 0", "worker 1", "worker 2"));
  EXPECT_THAT(Names(Job("ps", 2, 2)), ElementsAre("worker 0", "worker 1", "shard 0", "shard 1"));
}

TEST(HostPlanTest, ColocatedPutsShardsOnTheHostsOfWorkersInTurn) {
  EXPECT_THAT(Names(Job("ps", 2, 3, "colocated")),
              ElementsAre("worker 0, shard 0, shard 2", "worker 1, shard 1"));
  EXPECT_THAT(Names(Job("ps", 3, 1, "colocated")),
              ElementsAre("worker 0, shard 0", "worker 1", "worker 2"));
  EXPECT_THAT(Names(Job("ring", 2, 1, "colocated")), ElementsAre("worker 0", "worker 1"));
}

TEST(HostPlanTest, OneProcessAndNoNetworkHaveNoHosts) {
  EXPECT_THAT(Names(Job("local", 4, 1)), IsEmpty());
  EXPECT_THAT(Names(Job("data_parallel", 4, 1)), IsEmpty());
  JobConfig job = Job("ring", 4, 1);
  job.network = "";
  EXPECT_THAT(Names(job), IsEmpty());
}

TEST(HostPlanTest, FindsTheHostOfAMember) {
  const HostPlan plan = PlanHosts(Job("ps", 2, 3, "colocated"));
  EXPECT_EQ(HostOf(plan, WorkerId(1)), 1);
  EXPECT_EQ(HostOf(plan, ShardId(1)), 1);
  EXPECT_EQ(HostOf(plan, ShardId(2)), 0);
  EXPECT_EQ(HostOf(plan, WorkerId(2)), -1);
  EXPECT_EQ(HostOf(plan, ShardId(3)), -1);
}

}  // namespace
}  // namespace ringside
