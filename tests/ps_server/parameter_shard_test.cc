#include "ps_server/parameter_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "common/suspects.h"
#include "tests/testing/random_gradients.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Push {
  FrameHeader header;
  FramePayload payload;
};

// `bytes` of `memory` in two pieces, cut at `cut`.
FramePayload TwoPieces(std::shared_ptr<std::vector<float>> memory, size_t cut) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(memory->data());
  const size_t size = memory->size() * sizeof(float);
  cut = std::min(cut, size);
  return FramePayload({{bytes, cut}, {bytes + cut, size - cut}}, std::move(memory));
}

FrameHeader PushHeader(const UnitTable::Unit& unit, int worker, int64_t step) {
  FrameHeader header;
  header.generation = 1;
  header.step = static_cast<uint64_t>(step);
  header.bucket = static_cast<uint32_t>(unit.bucket);
  header.sender = static_cast<uint32_t>(worker);
  header.offset = static_cast<uint64_t>(unit.range.begin);
  header.elements = static_cast<uint32_t>(unit.range.length);
  header.weight = static_cast<uint64_t>(worker + 1);
  return header;
}

// One unit of one worker's gradients of one step, in memory of its own.
Push MakePush(const BucketPlan& plan, const UnitTable::Unit& unit, int worker, int64_t step,
              size_t cut) {
  const std::vector<float> gradients = RandomGradients(plan.total_elements(), worker, step);
  const auto begin = gradients.begin() + plan.bucket(unit.bucket).begin + unit.range.begin;
  auto memory = std::make_shared<std::vector<float>>(begin, begin + unit.range.length);
  return {PushHeader(unit, worker, step), TwoPieces(std::move(memory), cut)};
}

std::unique_ptr<ParameterShard> MakeShard(const BucketPlan& plan, const ShardLayout& layout,
                                          int shard) {
  auto made = ParameterShard::Create({plan, layout, shard, 0, 1, 0});
  EXPECT_TRUE(made.ok()) << made.status();
  return std::move(made).value();
}

void CopyResults(const BucketPlan& plan, const std::vector<ParameterShard::Result>& results,
                 std::vector<float>* sums) {
  for (const ParameterShard::Result& result : results) {
    std::copy(result.sum.begin(), result.sum.end(),
              sums->begin() + plan.bucket(static_cast<int>(result.header.bucket)).begin +
                  result.header.offset);
  }
}

TEST(ParameterShardTest, AnyOrderOfArrivalGivesTheLawfulBits) {
  const BucketPlan plan = PlanWithBuckets({37, 1, 3, 50});
  std::mt19937 random(1);
  for (int workers = 1; workers <= 5; ++workers) {
    for (int shards = 1; shards <= 3; ++shards) {
      const ShardLayout layout{workers, shards, 28};
      std::vector<std::unique_ptr<ParameterShard>> machines;
      for (int shard = 0; shard < shards; ++shard)
        machines.push_back(MakeShard(plan, layout, shard));
      for (int64_t step = 0; step < 5; ++step) {  // both arenas, more than once
        std::vector<float> sums(plan.total_elements());
        for (int shard = 0; shard < shards; ++shard) {
          const UnitTable table(plan, layout, shard);
          std::vector<Push> pushes;
          for (int unit = 0; unit < table.size(); ++unit) {
            for (int worker = 0; worker < workers; ++worker) {
              pushes.push_back(MakePush(plan, table.unit(unit), worker, step, random() % 29));
            }
          }
          std::shuffle(pushes.begin(), pushes.end(), random);
          std::vector<ParameterShard::Result> results;
          for (Push& push : pushes) {
            const absl::Status status =
                machines[shard]->Push(push.header, std::move(push.payload), &results);
            ASSERT_TRUE(status.ok()) << status;
          }
          ASSERT_EQ(results.size(), static_cast<size_t>(table.size()));
          CopyResults(plan, results, &sums);
          EXPECT_EQ(machines[shard]->open_step(), static_cast<uint64_t>(step) + 1);
          EXPECT_EQ(machines[shard]->parked_frames(), 0);
        }
        EXPECT_TRUE(SameBits(sums, LawfulSums(plan, workers, step)))
            << workers << " workers, " << shards << " shards";
      }
    }
  }
}

TEST(ParameterShardTest, ResultsOfOneStepOutliveTheFoldsOfTheNext) {
  const BucketPlan plan = PlanWithBuckets({40});
  const ShardLayout layout{2, 1, 40};
  const auto shard = MakeShard(plan, layout, 0);
  const UnitTable table(plan, layout, 0);
  std::vector<ParameterShard::Result> of_step[4];
  for (int64_t step = 0; step < 4; ++step) {
    for (int unit = 0; unit < table.size(); ++unit) {
      for (int worker : {0, 1}) {
        Push push = MakePush(plan, table.unit(unit), worker, step, 3);
        ASSERT_TRUE(shard->Push(push.header, std::move(push.payload), &of_step[step]).ok());
      }
    }
    if (step == 0) continue;
    std::vector<float> before(plan.total_elements());
    CopyResults(plan, of_step[step - 1], &before);
    EXPECT_TRUE(SameBits(before, LawfulSums(plan, 2, step - 1)));
  }
}

TEST(ParameterShardTest, ResultSaysWhatItIs) {
  const BucketPlan plan = PlanWithBuckets({4});
  const auto shard = MakeShard(plan, {2, 1, 1024}, 0);
  const UnitTable table(plan, {2, 1, 1024}, 0);
  std::vector<ParameterShard::Result> results;
  Push first = MakePush(plan, table.unit(1), 0, 0, 4);
  Push second = MakePush(plan, table.unit(1), 1, 0, 4);
  second.header.finite = false;
  ASSERT_TRUE(shard->Push(first.header, std::move(first.payload), &results).ok());
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(shard->parked_frames(), 1);  // chunk 1 starts with worker 1
  ASSERT_TRUE(shard->Push(second.header, std::move(second.payload), &results).ok());
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].header.kind, FrameKind::kResult);
  EXPECT_EQ(results[0].header.generation, 1u);
  EXPECT_EQ(results[0].header.offset, 2u);
  EXPECT_EQ(results[0].header.elements, 2u);
  EXPECT_EQ(results[0].header.weight, 3u);  // 1 + 2
  EXPECT_FALSE(results[0].header.finite);
}

class RefusalTest : public ::testing::Test {
 protected:
  // Pushes unit 0 of worker 1 at step 0 after `change`, expects a refusal and that nothing was
  // changed by it.
  absl::Status Refused(const std::function<void(FrameHeader*)>& change,
                       size_t payload_elements = 4) {
    FrameHeader header = PushHeader(table_.unit(0), 1, 0);
    change(&header);
    std::vector<ParameterShard::Result> results;
    const absl::Status status = shard_->Push(
        header, TwoPieces(std::make_shared<std::vector<float>>(payload_elements), 5), &results);
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(results.empty());
    EXPECT_EQ(shard_->parked_frames(), parked_);
    return status;
  }
  static std::string Message(const absl::Status& status) { return std::string(status.message()); }

  const BucketPlan plan_ = PlanWithBuckets({16, 5});
  const ShardLayout layout_{2, 2, 1024};
  const UnitTable table_{plan_, layout_, 0};
  const std::unique_ptr<ParameterShard> shard_ = MakeShard(plan_, layout_, 0);
  int64_t parked_ = 0;
};

TEST_F(RefusalTest, WrongKind) {
  const auto status = Refused([](FrameHeader* header) { header->kind = FrameKind::kResult; });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), HasSubstr("not a push"));
}

TEST_F(RefusalTest, WrongGroup) {
  const auto status = Refused([](FrameHeader* header) { header->group = 7; });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), HasSubstr("the group is 0"));
}

TEST_F(RefusalTest, StaleGeneration) {
  const auto status = Refused([](FrameHeader* header) { header->generation = 0; });
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), HasSubstr("the generation is 1"));
}

TEST_F(RefusalTest, SenderOutsideTheGroup) {
  const auto status = Refused([](FrameHeader* header) { header->sender = 2; });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), HasSubstr("the ranks of the group are 0 to 1"));
  EXPECT_EQ(Refused([](FrameHeader* header) { header->sender = ~uint32_t{0}; }).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(RefusalTest, FutureStep) {
  const auto status = Refused([](FrameHeader* header) { header->step = 1; });
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(Message(status), HasSubstr("the step is not open yet, step 0 is"));
}

TEST_F(RefusalTest, UnknownBucketAndNoUnit) {
  EXPECT_EQ(Refused([](FrameHeader* header) { header->bucket = 2; }).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Refused([](FrameHeader* header) { header->offset = 16; }).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Refused([](FrameHeader* header) { header->offset = 1; }).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Refused([](FrameHeader* header) { header->elements = 7; }).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(RefusalTest, AnotherShardsUnit) {
  const auto status = Refused([](FrameHeader* header) { header->offset = 8; });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), HasSubstr("not a unit of shard 0"));
}

TEST_F(RefusalTest, PayloadOfAnotherLength) {
  const auto status = Refused([](FrameHeader*) {}, 3);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), HasSubstr("12 payload bytes instead of 32"));
}

TEST_F(RefusalTest, DuplicateParkedAndDuplicateFolded) {
  std::vector<ParameterShard::Result> results;
  for (int worker : {1, 0}) {  // unit 0 starts with worker 0: the first push is parked, the second
                               // completes the unit
    Push push = MakePush(plan_, table_.unit(0), worker, 0, 4);
    ASSERT_TRUE(shard_->Push(push.header, std::move(push.payload), &results).ok());
    parked_ = shard_->parked_frames();
    EXPECT_EQ(parked_, worker);
    const auto status =
        Refused([&](FrameHeader* header) { header->sender = static_cast<uint32_t>(worker); }, 8);
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
    EXPECT_THAT(Message(status), HasSubstr("it is a duplicate"));
    ASSERT_EQ(SuspectsOf(status).size(), 1u);
    EXPECT_EQ(SuspectsOf(status)[0].rank(), worker);
  }
}

TEST_F(RefusalTest, StaleStep) {
  std::vector<ParameterShard::Result> results;
  for (int unit = 0; unit < table_.size(); ++unit) {
    for (int worker : {0, 1}) {
      Push push = MakePush(plan_, table_.unit(unit), worker, 0, 4);
      ASSERT_TRUE(shard_->Push(push.header, std::move(push.payload), &results).ok());
    }
  }
  const auto status = Refused([](FrameHeader*) {}, 8);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), HasSubstr("the step is closed, step 1 is open"));
}

TEST(ParameterShardMissingTest, NamesWhoIsMissingInTheFirstOpenBucket) {
  const BucketPlan plan = PlanWithBuckets({4, 8});
  const ShardLayout layout{3, 1, 1024};
  const auto shard = MakeShard(plan, layout, 0);
  const UnitTable table(plan, layout, 0);
  std::vector<ParameterShard::Result> results;
  EXPECT_FALSE(shard->started());
  const auto push = [&](int unit, int worker) {
    Push made = MakePush(plan, table.unit(unit), worker, 0, 4);
    ASSERT_TRUE(shard->Push(made.header, std::move(made.payload), &results).ok());
  };
  for (int unit = 0; unit < table.size(); ++unit) push(unit, 1);
  EXPECT_TRUE(shard->started());
  EXPECT_TRUE(shard->somebody_waits());
  EXPECT_TRUE(shard->HasPushedAll(1));
  EXPECT_EQ(shard->FindMissing().bucket, 0);
  EXPECT_THAT(shard->FindMissing().workers, ElementsAre(0, 2));
  for (int unit = 0; unit < table.first_of_bucket(1); ++unit) push(unit, 0), push(unit, 2);
  push(table.first_of_bucket(1), 0);
  EXPECT_EQ(Describe(shard->FindMissing()), "worker 0, worker 2 at step 0 bucket 1 (52 bytes)");
}

TEST(ParameterShardCreateTest, RefusesByFlag) {
  const BucketPlan plan = PlanWithBuckets({2});
  EXPECT_EQ(ParameterShard::Create({plan, {1, 3, 4}, 0, 0, 1, 0}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(ParameterShard::Create({plan, {1, 2, 4}, 2, 0, 1, 0}).status().message()),
              HasSubstr("--shard=2: must be from 0 to 1"));
}

TEST(ParameterShardCreateTest, AShardMayOwnNothingOfSmallBuckets) {
  const BucketPlan plan = PlanWithBuckets({1, 1, 1});
  const auto shard = MakeShard(plan, {1, 2, 4}, 1);
  EXPECT_FALSE(shard->started());
  EXPECT_FALSE(shard->somebody_waits());
}

}  // namespace
}  // namespace ringside
