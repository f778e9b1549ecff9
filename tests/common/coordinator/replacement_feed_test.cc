#include "common/coordinator/replacement_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "common/suspects.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Replacement Make(uint32_t recovery, int shard) {
  Replacement replacement;
  replacement.set_recovery(recovery);
  *replacement.mutable_member()->mutable_id() = ShardId(shard);
  replacement.mutable_member()->set_pid(1000 + recovery);
  return replacement;
}

class ReplacementFeedTest : public ::testing::Test {
 protected:
  static Membership TwoShards() {
    Membership membership;
    for (int shard : {0, 1}) *membership.add_shards()->mutable_id() = ShardId(shard);
    return membership;
  }
  ReplacementFeed::Handler Recorder() {
    return [this](const Replacement& replacement) { seen_.push_back(replacement.recovery()); };
  }

  ReplacementFeed feed_{TwoShards()};
  std::vector<uint32_t> seen_;
};

TEST_F(ReplacementFeedTest, KeepsWhatComesBeforeTheHandler) {
  feed_.Add(Make(1, 1));
  feed_.Add(Make(2, 0));
  feed_.SetHandler(Recorder());
  EXPECT_THAT(seen_, ElementsAre(1, 2));
  feed_.Add(Make(3, 1));
  EXPECT_THAT(seen_, ElementsAre(1, 2, 3));
  feed_.SetHandler(Recorder());  // what was delivered is not delivered again
  EXPECT_THAT(seen_, ElementsAre(1, 2, 3));
}

TEST_F(ReplacementFeedTest, WithoutAHandlerItKeepsThemForTheNextOne) {
  feed_.SetHandler(Recorder());
  feed_.SetHandler(nullptr);
  feed_.Add(Make(1, 1));
  EXPECT_THAT(seen_, IsEmpty());
  feed_.SetHandler(Recorder());
  EXPECT_THAT(seen_, ElementsAre(1));
}

TEST_F(ReplacementFeedTest, TheMembershipIsUpToDateBeforeTheHandlerRuns) {
  feed_.SetHandler([this](const Replacement& replacement) {
    EXPECT_EQ(feed_.current().recovery(), replacement.recovery());
    EXPECT_EQ(feed_.current().shards(1).pid(), 1001);
    seen_.push_back(replacement.recovery());
  });
  feed_.Add(Make(1, 1));
  EXPECT_THAT(seen_, ElementsAre(1));
  EXPECT_EQ(feed_.current().shards(0).pid(), 0);
}

// Handlers come and go while replacements arrive: none is lost, doubled or out of order.
TEST_F(ReplacementFeedTest, IsOrderlyUnderConcurrency) {
  constexpr uint32_t kCount = 500;
  std::atomic<bool> done{false};
  std::thread adding([&] {
    for (uint32_t i = 1; i <= kCount; ++i) feed_.Add(Make(i, i % 2));
    done = true;
  });
  while (!done) feed_.SetHandler(Recorder());
  adding.join();
  feed_.SetHandler(Recorder());
  ASSERT_EQ(seen_.size(), kCount);
  for (uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(seen_[i], i + 1);
}

}  // namespace
}  // namespace ringside
