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
  ExchangeLedger ledger_{&plan_, &tables_, Group::World(2, 0, 1)};
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

}  // namespace
}  // namespace ringside
