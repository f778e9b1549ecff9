#include "ps_server/shard_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <string>
#include <thread>
#include <vector>

#include "ps_server/metrics_families.h"
#include "ps_server/reply_clock.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ShardMetrics MadeMetrics() {
  ShardMetrics metrics;
  metrics.shard = 3;
  metrics.elements = 1000;
  metrics.account.steps = 11;
  metrics.account.units = 4;
  metrics.account.frames = 90;
  metrics.account.queue_time = absl::Milliseconds(1500);
  metrics.account.fold_time = absl::Milliseconds(250);
  metrics.account.serialise_time = absl::Milliseconds(125);
  metrics.account.statistics.updates = 40;
  metrics.account.statistics.late_pushes = 2;
  metrics.account.statistics.staleness = {5, 3, 2};
  metrics.replies = {40, absl::Milliseconds(500)};
  metrics.snapshots = 1;
  metrics.snapshot_time = absl::Milliseconds(750);
  metrics.counted.payload_bytes_received = 4096;
  metrics.counted.payload_bytes_sent = 8192;
  metrics.counted.messages_received = 4;
  metrics.counted.header_bytes_sent = 128;
  metrics.expected.payload_bytes_received = 4000;
  metrics.connected_workers = 2;
  metrics.cpu_seconds = 1.25;
  metrics.peak_rss_bytes = 1 << 20;
  return metrics;
}

std::string Text(const ShardMetrics& metrics) {
  return prometheus::TextSerializer().prometheus::Serializer::Serialize(MetricsFamilies(metrics));
}

TEST(MetricsFamiliesTest, TrafficStandsBesideItsFormula) {
  const std::string text = Text(MadeMetrics());
  EXPECT_THAT(text, HasSubstr("# TYPE ringside_ps_bytes_total counter\n"));
  EXPECT_THAT(text,
              HasSubstr("ringside_ps_bytes_total{shard=\"3\",direction=\"in\",kind=\"counted\""
                        "} 4096\n"));
  EXPECT_THAT(text, HasSubstr("ringside_ps_bytes_total{shard=\"3\",direction=\"in\",kind="
                              "\"expected\"} 4000\n"));
  EXPECT_THAT(text, HasSubstr("ringside_ps_bytes_total{shard=\"3\",direction=\"out\",kind="
                              "\"counted\"} 8192\n"));
  EXPECT_THAT(text, HasSubstr("ringside_ps_messages_total{shard=\"3\",direction=\"in\",kind="
                              "\"counted\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("ringside_ps_header_bytes_total{shard=\"3\",direction=\"out\",kind="
                              "\"counted\"} 128\n"));
}

TEST(MetricsFamiliesTest, TimesCountsAndGauges) {
  const std::string text = Text(MadeMetrics());
  for (const char* line :
       {"queue_seconds_total{shard=\"3\"} 1.5\n", "fold_seconds_total{shard=\"3\"} 0.25\n",
        "serialise_seconds_total{shard=\"3\"} 0.125\n", "reply_seconds_total{shard=\"3\"} 0.5\n",
        "snapshot_seconds_total{shard=\"3\"} 0.75\n", "cpu_seconds_total{shard=\"3\"} 1.25\n",
        "steps_total{shard=\"3\"} 11\n", "frames_total{shard=\"3\"} 90\n",
        "replies_total{shard=\"3\"} 40\n", "updates_total{shard=\"3\"} 40\n",
        "late_pushes_total{shard=\"3\"} 2\n", "snapshots_total{shard=\"3\"} 1\n",
        "elements{shard=\"3\"} 1000\n", "connected_workers{shard=\"3\"} 2\n",
        "peak_rss_bytes{shard=\"3\"} 1048576\n"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\nringside_ps_") + line));
  }
  EXPECT_THAT(text, HasSubstr("# TYPE ringside_ps_connected_workers gauge\n"));
}

TEST(MetricsFamiliesTest, StalenessIsACumulativeHistogram) {
  const std::string text = Text(MadeMetrics());
  EXPECT_THAT(text, HasSubstr("# TYPE ringside_ps_staleness histogram\n"));
  EXPECT_THAT(text, HasSubstr("ringside_ps_staleness_count{shard=\"3\"} 10\n"
                              "ringside_ps_staleness_sum{shard=\"3\"} 7\n"
                              "ringside_ps_staleness_bucket{shard=\"3\",le=\"0\"} 5\n"
                              "ringside_ps_staleness_bucket{shard=\"3\",le=\"1\"} 8\n"
                              "ringside_ps_staleness_bucket{shard=\"3\",le=\"+Inf\"} 10\n"));
  ShardMetrics synchronous = MadeMetrics();
  synchronous.account.statistics.staleness.clear();
  EXPECT_THAT(Text(synchronous), Not(HasSubstr("staleness")));
}

TEST(FillResultTest, HasAllThatWasMeasured) {
  ShardResult result;
  FillResult(MadeMetrics(), &result);
  EXPECT_EQ(result.shard(), 3);
  EXPECT_EQ(result.elements(), 1000);
  EXPECT_EQ(result.units(), 4);
  EXPECT_EQ(result.frames(), 90);
  EXPECT_EQ(result.queue_s(), 1.5);
  EXPECT_EQ(result.fold_s(), 0.25);
  EXPECT_EQ(result.serialise_s(), 0.125);
  EXPECT_EQ(result.replies(), 40);
  EXPECT_EQ(result.reply_s(), 0.5);
  EXPECT_EQ(result.updates(), 40);
  EXPECT_EQ(result.late_pushes(), 2);
  EXPECT_THAT(result.staleness(), ElementsAre(5, 3, 2));
  EXPECT_EQ(result.snapshots_written(), 1);
  EXPECT_EQ(result.snapshot_s(), 0.75);
}

TEST(ReplyClockTest, AReplyIsOverWithItsLastWrite) {
  ReplyClock clock;
  ReplyClock::Ticket first = clock.Start(FrameHeader());
  std::vector<ReplyClock::Ticket> writes(3, first);
  first = nullptr;
  writes.pop_back();
  writes.pop_back();
  EXPECT_EQ(clock.total().replies, 0);
  writes.pop_back();
  EXPECT_EQ(clock.total().replies, 1);
  EXPECT_GT(clock.total().time, absl::ZeroDuration());
}

TEST(ReplyClockTest, CountsTheReplyOfAnyThread) {
  ReplyClock clock;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([ticket = clock.Start(FrameHeader())] {});
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clock.total().replies, 4);
}

TEST(ReplyClockTest, TracesTheRepliesOfTheWindow) {
  TraceBuffer buffer({3, 3}, 10);
  ReplyClock clock;
  clock.TraceTo(&buffer);
  for (uint64_t step : {2, 3, 4}) {
    FrameHeader header;
    header.step = step;
    header.bucket = 7;
    clock.Start(header);
  }
  EXPECT_EQ(clock.total().replies, 3);
  ProcessTrace trace;
  buffer.AppendTo(&trace);
  ASSERT_EQ(trace.spans_size(), 1);
  EXPECT_EQ(trace.spans(0).kind(), TRACE_REPLY);
  EXPECT_EQ(trace.spans(0).step(), 3);
  EXPECT_EQ(trace.spans(0).bucket(), 7);
  EXPECT_LE(trace.spans(0).begin_ns(), trace.spans(0).end_ns());
}

}  // namespace
}  // namespace ringside
