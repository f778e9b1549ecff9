#include "common/unit_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/random_gradients.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

FrameHeader Frame(uint32_t bucket, uint64_t offset, uint32_t elements) {
  FrameHeader header;
  header.bucket = bucket;
  header.offset = offset;
  header.elements = elements;
  return header;
}

TEST(UnitTableTest, ListsUnitsBucketByBucketAndPacksThem) {
  // Bucket 0: 10 elements, chunks [0,5) [5,10), stripe of shard 0 [0,5). Bucket 1: 1 element, all
  // of it shard 0's.
  const BucketPlan plan = PlanWithBuckets({10, 1});
  const UnitTable table(plan, {2, 2, 12}, 0);
  ASSERT_EQ(table.size(), 3);
  EXPECT_EQ(table.elements(), 6);
  EXPECT_EQ(table.num_buckets(), 2);
  EXPECT_EQ(table.unit(0).range, (ElementRange{0, 3}));
  EXPECT_EQ(table.unit(1).range, (ElementRange{3, 2}));
  EXPECT_EQ(table.unit(1).position, 3);
  EXPECT_EQ(table.unit(2).bucket, 1);
  EXPECT_EQ(table.unit(2).position, 5);
  EXPECT_EQ(table.first_of_bucket(1), 2);
  EXPECT_EQ(table.first_of_bucket(2), 3);
  EXPECT_EQ(UnitTable(plan, {2, 2, 12}, 1).elements(), 5);
}

TEST(UnitTableTest, FindsEveryUnitOfEveryShard) {
  const BucketPlan plan = PlanWithBuckets({97, 1, 2, 64});
  for (int workers = 1; workers <= 4; ++workers) {
    for (int shards = 1; shards <= 3; ++shards) {
      for (int shard = 0; shard < shards; ++shard) {
        const UnitTable table(plan, {workers, shards, 20}, shard);
        for (int i = 0; i < table.size(); ++i) {
          const UnitTable::Unit& unit = table.unit(i);
          const auto found = table.Find(Frame(unit.bucket, unit.range.begin, unit.range.length));
          ASSERT_TRUE(found.ok()) << found.status();
          EXPECT_EQ(*found, i);
        }
      }
    }
  }
}

TEST(UnitTableTest, NamesWhatIsNoUnit) {
  const UnitTable table(PlanWithBuckets({10, 1}), {2, 2, 12}, 0);
  const auto message = [&](const FrameHeader& header) {
    return std::string(table.Find(header).status().message());
  };
  EXPECT_THAT(message(Frame(2, 0, 1)), HasSubstr("no such bucket, the plan has 2"));
  EXPECT_THAT(message(Frame(0, 10, 1)), HasSubstr("the bucket has 10 elements"));
  EXPECT_THAT(message(Frame(0, 9, 2)), HasSubstr("the bucket has 10 elements"));
  EXPECT_THAT(message(Frame(0, ~uint64_t{0}, 2)), HasSubstr("the bucket has 10 elements"));
  EXPECT_THAT(message(Frame(0, 5, 3)),
              HasSubstr("not a unit of shard 0, which has elements 0 to 5"));
  EXPECT_THAT(message(Frame(0, 1, 2)),
              HasSubstr("is no unit; the unit there has offset 0 and 3 elements"));
  EXPECT_THAT(message(Frame(0, 0, 2)),
              HasSubstr("is no unit; the unit there has offset 0 and 3 elements"));
  EXPECT_THAT(message(Frame(0, 0, 0)), HasSubstr("is no unit"));
}

TEST(UnitTableTest, LayoutRefusesByFlag) {
  const BucketPlan plan = PlanWithBuckets({2, 1});
  EXPECT_TRUE((ShardLayout{2, 3, 4}.Validate(plan).ok()));
  EXPECT_THAT(std::string((ShardLayout{2, 4, 4}.Validate(plan).message())),
              HasSubstr("--ps_shards=4: more shards than elements; must be at most 3"));
  EXPECT_THAT(std::string((ShardLayout{0, 1, 4}.Validate(plan).message())),
              HasSubstr("--workers=0"));
  EXPECT_THAT(std::string((ShardLayout{1, 0, 4}.Validate(plan).message())),
              HasSubstr("--ps_shards=0"));
  EXPECT_THAT(std::string((ShardLayout{1, 1, 6}.Validate(plan).message())),
              HasSubstr("--frame_bytes=6"));
}

}  // namespace
}  // namespace ringside
