#include "worker/synchronizers/exchange_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/testing/random_gradients.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ExchangeLedgerTest : public ::testing::Test {
 protected:
  explicit ExchangeLedgerTest(bool newer_results = false)
      : ledger_(&plan_, &tables_, Group::World(2, 0, 1), newer_results) {}
  // The result of unit 0 of shard 1: elements 4 and 5 of bucket 0.
  FrameHeader Result() const {
    FrameHeader header;
    header.kind = FrameKind::kResult;
    header.generation = 1;
    header.step = 3;
    header.sender = 1;
    header.offset = 4;
    header.elements = 2;
    return header;
  }
  absl::Status Refused(const std::function<void(FrameHeader*)>& change) {
    FrameHeader header = Result();
    change(&header);
    return ledger_.Accept(1, header).status();
  }
  // Takes every result that is due.
  void TakeAll() {
    for (int shard : {0, 1}) {
      for (int i = 0; i < tables_[shard].size(); ++i) {
        const UnitTable::Unit& unit = tables_[shard].unit(i);
        FrameHeader header = Result();
        header.sender = static_cast<uint32_t>(shard);
        header.bucket = static_cast<uint32_t>(unit.bucket);
        header.offset = static_cast<uint64_t>(unit.range.begin);
        header.elements = static_cast<uint32_t>(unit.range.length);
        const auto place = ledger_.Accept(shard, header);
        ASSERT_TRUE(place.ok()) << place.status();
        EXPECT_EQ(place->begin, plan_.bucket(unit.bucket).begin + unit.range.begin);
        ledger_.Complete();
      }
    }
  }

  const BucketPlan plan_ = PlanWithBuckets({8, 3});
  const ShardLayout layout_{2, 2, 8};
  const std::vector<UnitTable> tables_ = {{plan_, layout_, 0}, {plan_, layout_, 1}};
  ExchangeLedger ledger_;
};

TEST_F(ExchangeLedgerTest, FollowsAStepToItsEnd) {
  EXPECT_FALSE(ledger_.CheckSubmitted(3).ok());
  ASSERT_TRUE(ledger_.Submit(3, 0, 8).ok());
  EXPECT_THAT(std::string(ledger_.CheckSubmitted(3).message()),
              HasSubstr("bucket 1 of step 3 was not submitted"));
  ASSERT_TRUE(ledger_.Submit(3, 1, 3).ok());
  EXPECT_TRUE(ledger_.CheckSubmitted(3).ok());
  EXPECT_FALSE(ledger_.CheckSubmitted(4).ok());
  EXPECT_FALSE(ledger_.AllComplete());
  EXPECT_THAT(ledger_.FindMissing().shards, ElementsAre(0, 1));
  EXPECT_EQ(ledger_.FindMissing().bytes, 32);
  TakeAll();
  EXPECT_TRUE(ledger_.AllComplete());
  EXPECT_TRUE(ledger_.FindMissing().shards.empty());
  ledger_.Close();
  EXPECT_FALSE(ledger_.Submit(3, 0, 8).ok());
  EXPECT_TRUE(ledger_.Submit(4, 0, 8).ok());
}

TEST_F(ExchangeLedgerTest, RefusesWrongSubmissions) {
  EXPECT_EQ(ledger_.Submit(3, 2, 8).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ledger_.Submit(3, 0, 7).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(ledger_.Submit(3, 0, 8).ok());
  EXPECT_EQ(ledger_.Submit(3, 0, 8).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ledger_.Submit(4, 1, 3).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ExchangeLedgerTest, RefusesWrongResultsByName) {
  EXPECT_THAT(std::string(Refused([](FrameHeader*) {}).message()), HasSubstr("no step is open"));
  ASSERT_TRUE(ledger_.Submit(3, 0, 8).ok());
  EXPECT_THAT(std::string(Refused([](FrameHeader* h) { h->kind = FrameKind::kPush; }).message()),
              HasSubstr("not a result"));
  EXPECT_FALSE(Refused([](FrameHeader* h) { h->group = 1; }).ok());
  EXPECT_FALSE(Refused([](FrameHeader* h) { h->generation = 0; }).ok());
  EXPECT_THAT(std::string(Refused([](FrameHeader* h) { h->sender = 0; }).message()),
              HasSubstr("another sender"));
  EXPECT_THAT(std::string(Refused([](FrameHeader* h) { h->step = 2; }).message()),
              HasSubstr("open is step 3"));
  EXPECT_FALSE(Refused([](FrameHeader* h) { h->offset = 0; }).ok());
  EXPECT_FALSE(Refused([](FrameHeader* h) { h->elements = 1; }).ok());
  EXPECT_EQ(Refused([](FrameHeader* h) { h->bucket = 9; }).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Refused([](FrameHeader* h) { h->bucket = 1, h->offset = 2, h->elements = 1; }).code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(ledger_.Accept(1, Result()).ok());
  EXPECT_EQ(ledger_.Accept(1, Result()).status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(ExchangeLedgerTest, AResultOfALaterStepIsRefusedWhereNoneMayBeNewer) {
  ASSERT_TRUE(ledger_.Submit(3, 0, 8).ok());
  EXPECT_THAT(std::string(Refused([](FrameHeader* h) { h->step = 4; }).message()),
              HasSubstr("open is step 3"));
  EXPECT_FALSE(ledger_.Has(1, 0));
  EXPECT_EQ(ledger_.step(), 3);
  EXPECT_TRUE(ledger_.open());
  EXPECT_TRUE(ledger_.submitted(0));
  EXPECT_FALSE(ledger_.submitted(1));
}

TEST_F(ExchangeLedgerTest, APullOpensAllOfAStep) {
  ASSERT_TRUE(ledger_.Submit(3, 0, 8).ok());
  ASSERT_TRUE(ledger_.Accept(1, Result()).ok());  // forgotten
  ledger_.Complete();
  ledger_.OpenForPull(3);
  EXPECT_TRUE(ledger_.CheckSubmitted(3).ok());
  EXPECT_FALSE(ledger_.AllComplete());
  EXPECT_EQ(ledger_.FindMissing().bytes, 32);
  EXPECT_EQ(ledger_.Submit(3, 1, 3).code(), absl::StatusCode::kFailedPrecondition);
  TakeAll();
  EXPECT_TRUE(ledger_.AllComplete());
  ledger_.Close();
  EXPECT_FALSE(ledger_.open());
  EXPECT_FALSE(ledger_.submitted(0));
  EXPECT_EQ(ledger_.Submit(3, 0, 8).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(ledger_.Submit(4, 0, 8).ok());
}

class NewerResultsTest : public ExchangeLedgerTest {
 protected:
  NewerResultsTest() : ExchangeLedgerTest(/*newer_results=*/true) {}
  void Open(int64_t step) {
    ASSERT_TRUE(ledger_.Submit(step, 0, 8).ok());
    ASSERT_TRUE(ledger_.Submit(step, 1, 3).ok());
  }
  absl::Status Take(int shard, int unit, uint64_t step) {
    FrameHeader header = Result();
    header.step = step;
    header.sender = static_cast<uint32_t>(shard);
    const UnitTable::Unit& place = tables_[shard].unit(unit);
    header.bucket = static_cast<uint32_t>(place.bucket);
    header.offset = static_cast<uint64_t>(place.range.begin);
    header.elements = static_cast<uint32_t>(place.range.length);
    const absl::Status status = ledger_.Accept(shard, header).status();
    if (status.ok()) ledger_.Complete();
    return status;
  }
  void TakeShard(int shard, uint64_t step) {
    for (int unit = 0; unit < tables_[shard].size(); ++unit)
      EXPECT_TRUE(Take(shard, unit, step).ok());
  }
};

TEST_F(NewerResultsTest, MayBeOfLaterStepsButNotOfEarlierOnes) {
  Open(3);
  EXPECT_EQ(Take(0, 0, 2).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Take(0, 0, 3).ok());
  EXPECT_TRUE(Take(0, 1, 8).ok());
  EXPECT_EQ(Take(0, 1, 9).code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(NewerResultsTest, ShardsThatAreBehindAreReopenedUntilAllAreOfOneStep) {
  Open(3);
  for (int unit = 0; unit < tables_[0].size(); ++unit)  // one unit of a step that is half updated
    ASSERT_TRUE(Take(0, unit, unit == 0 ? 6 : 5).ok());
  TakeShard(1, 4);
  ASSERT_TRUE(ledger_.AllComplete());
  EXPECT_EQ(ledger_.newest(), 6u);
  EXPECT_THAT(ledger_.Reopen(6), ElementsAre(0, 1));
  EXPECT_FALSE(ledger_.AllComplete());
  TakeShard(0, 6);
  TakeShard(1, 7);  // newer again
  ASSERT_TRUE(ledger_.AllComplete());
  EXPECT_EQ(ledger_.newest(), 7u);
  EXPECT_THAT(ledger_.Reopen(7), ElementsAre(0));
  EXPECT_THAT(ledger_.FindMissing().shards, ElementsAre(0));
  TakeShard(0, 7);
  EXPECT_EQ(ledger_.newest(), 7u);
  EXPECT_TRUE(ledger_.Reopen(7).empty());
  EXPECT_TRUE(ledger_.AllComplete());
  ledger_.Close();
  Open(8);  // the next after the one that the parameters are of
  TakeShard(0, 8), TakeShard(1, 8);
  EXPECT_EQ(ledger_.newest(), 8u);
  EXPECT_TRUE(ledger_.Reopen(8).empty());
}

TEST(ExchangeLedgerWithAnEmptyShardTest, IsNeverBehind) {
  const BucketPlan plan = PlanWithBuckets({1, 1, 1});
  const std::vector<UnitTable> tables = {{plan, {1, 2, 4}, 0}, {plan, {1, 2, 4}, 1}};
  ExchangeLedger ledger(&plan, &tables, Group::World(1, 0, 1), true);
  for (int bucket : {0, 1, 2}) ASSERT_TRUE(ledger.Submit(1, bucket, 1).ok());
  for (int bucket : {0, 1, 2}) {
    FrameHeader header;
    header.kind = FrameKind::kResult;
    header.generation = 1;
    header.step = 4;
    header.bucket = static_cast<uint32_t>(bucket);
    header.elements = 1;
    ASSERT_TRUE(ledger.Accept(0, header).ok());
    ledger.Complete();
  }
  EXPECT_TRUE(ledger.AllComplete());
  EXPECT_EQ(ledger.newest(), 4u);
  EXPECT_TRUE(ledger.Reopen(4).empty());
}

}  // namespace
}  // namespace ringside
