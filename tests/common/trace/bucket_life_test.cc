#include "common/trace/bucket_life.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/suspects.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void Add(TraceKind kind, int64_t step, int bucket, int peer, int64_t begin, int64_t end,
         ProcessTrace* trace) {
  TraceSpan* const span = trace->add_spans();
  span->set_kind(kind);
  span->set_step(step);
  span->set_bucket(bucket);
  span->set_peer(peer);
  span->set_begin_ns(begin);
  span->set_end_ns(end);
}

std::vector<std::string> Texts(const BucketLife& life) {
  std::vector<std::string> texts;
  for (const BucketLife::Phase& phase : life.phases) {
    texts.push_back(absl::StrCat(phase.name, " ", phase.begin_ns, "-", phase.end_ns));
  }
  return texts;
}

TEST(BucketLifeTest, OfARing) {
  ProcessTrace trace;
  *trace.mutable_id() = WorkerId(2);
  Add(TRACE_READY, 5, 1, 2, 10, 10, &trace);
  Add(TRACE_SUBMIT, 5, 1, 2, 12, 14, &trace);
  Add(TRACE_SUM, 5, 1, 2, 20, 30, &trace);
  Add(TRACE_OPTIMIZER, 5, -1, 2, 40, 50, &trace);
  Add(TRACE_SUBMIT, 6, 0, 2, 60, 61, &trace);  // of which no more was recorded
  const std::vector<BucketLife> lives = BucketLives(trace);
  ASSERT_EQ(lives.size(), 1u);
  EXPECT_EQ(lives[0].step, 5);
  EXPECT_EQ(lives[0].bucket, 1);
  EXPECT_EQ(lives[0].rank, 2);
  EXPECT_THAT(Texts(lives[0]), ElementsAre("awaits its turn 10-12", "queued 12-20",
                                           "on the wire 20-30", "awaits the update 30-50"));
}

TEST(BucketLifeTest, OfAWorkerAndItsShards) {
  ProcessTrace trace;
  *trace.mutable_id() = WorkerId(0);
  Add(TRACE_SUBMIT, 5, 0, 0, 12, 14, &trace);
  Add(TRACE_PUSH, 5, 0, 1, 15, 19, &trace);
  Add(TRACE_PUSH, 5, 0, 0, 13, 18, &trace);
  Add(TRACE_RESULT, 5, 0, 1, 25, 26, &trace);
  Add(TRACE_RESULT, 5, 0, 0, 22, 23, &trace);
  ASSERT_EQ(BucketLives(trace).size(), 1u);
  EXPECT_THAT(Texts(BucketLives(trace)[0]), ElementsAre("queued 12-13", "on the wire 13-26"));
}

TEST(BucketLifeTest, OfAShard) {
  ProcessTrace trace;
  *trace.mutable_id() = ShardId(0);
  Add(TRACE_QUEUE, 5, 0, 0, 10, 11, &trace);
  Add(TRACE_PARK, 5, 0, 0, 11, 12, &trace);
  Add(TRACE_QUEUE, 5, 0, 1, 30, 33, &trace);
  Add(TRACE_FOLD, 5, 0, 1, 33, 40, &trace);
  Add(TRACE_REPLY, 5, 0, -1, 40, 45, &trace);
  ASSERT_EQ(BucketLives(trace).size(), 1u);
  EXPECT_THAT(Texts(BucketLives(trace)[0]),
              ElementsAre("arrives 10-30", "is folded 30-40", "is sent back 40-45"));
  EXPECT_THAT(BucketLives(ProcessTrace()), IsEmpty());
}

}  // namespace
}  // namespace ringside
