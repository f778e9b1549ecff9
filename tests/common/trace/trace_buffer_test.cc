#include "common/trace/trace_buffer.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace ringside {
namespace {

TEST(TraceBufferTest, WantsTheStepsOfTheWindow) {
  TraceBuffer buffer({3, 4}, 10);
  EXPECT_EQ(TraceBuffer::If(nullptr, 3), nullptr);
  EXPECT_EQ(TraceBuffer::If(&buffer, 2), nullptr);
  EXPECT_EQ(TraceBuffer::If(&buffer, 3), &buffer);
  EXPECT_EQ(TraceBuffer::If(&buffer, 5), nullptr);
  for (int64_t step = 1; step <= 6; ++step) TraceScope(&buffer, TRACE_SUM, step, 7, 2);
  TraceScope(nullptr, TRACE_SUM, 3);
  ProcessTrace trace;
  buffer.AppendTo(&trace);
  ASSERT_EQ(trace.spans_size(), 2);
  EXPECT_EQ(trace.spans(0).kind(), TRACE_SUM);
  EXPECT_EQ(trace.spans(0).step(), 3);
  EXPECT_EQ(trace.spans(0).bucket(), 7);
  EXPECT_EQ(trace.spans(0).peer(), 2);
  EXPECT_LE(trace.spans(0).begin_ns(), trace.spans(0).end_ns());
  EXPECT_LE(trace.spans(0).end_ns(), trace.spans(1).begin_ns());
  EXPECT_EQ(trace.dropped(), 0);
}

TEST(TraceBufferTest, DropsAndCountsWhatFindsNoPlace) {
  TraceBuffer buffer({1, 1}, 3);
  for (int i = 0; i < 5; ++i) buffer.Record({TRACE_DATA, 1, -1, -1, i, i});
  ProcessTrace trace;
  buffer.AppendTo(&trace);
  EXPECT_EQ(trace.spans_size(), 3);
  EXPECT_EQ(trace.dropped(), 2);
  TraceBuffer none({1, 1}, 0);
  none.Record({TRACE_DATA, 1});
  none.AppendTo(&trace);
  EXPECT_EQ(trace.dropped(), 3);
}

TEST(TraceBufferTest, TakesSpansOfManyThreadsWhileItIsRead) {
  constexpr int kThreads = 4;
  constexpr int kSpans = 1000;
  TraceBuffer buffer({1, kSpans}, kThreads * kSpans);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&buffer, thread] {
      for (int64_t i = 1; i <= kSpans; ++i) buffer.Record({TRACE_PUSH, i, thread, thread, i, i});
    });
  }
  ProcessTrace early;
  buffer.AppendTo(&early);
  for (const TraceSpan& span : early.spans()) EXPECT_EQ(span.step(), span.begin_ns());
  for (std::thread& thread : threads) thread.join();
  ProcessTrace trace;
  buffer.AppendTo(&trace);
  std::set<std::pair<int, int64_t>> seen;
  for (const TraceSpan& span : trace.spans()) {
    EXPECT_EQ(span.step(), span.end_ns());
    EXPECT_EQ(span.bucket(), span.peer());
    seen.emplace(span.peer(), span.step());
  }
  EXPECT_EQ(seen.size(), size_t{kThreads} * kSpans);
}

}  // namespace
}  // namespace ringside
