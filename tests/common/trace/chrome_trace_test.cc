#include "common/trace/chrome_trace.h"

#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "common/suspects.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Object = google::protobuf::Struct;

Object Parsed(const std::string& json) {
  Object object;
  const auto parsed = google::protobuf::util::JsonStringToMessage(json, &object);
  EXPECT_TRUE(parsed.ok()) << parsed.message() << json;
  return object;
}

std::string Text(const Object& object, const std::string& key) {
  const auto found = object.fields().find(key);
  return found == object.fields().end() ? "" : found->second.string_value();
}

double Number(const Object& object, const std::string& key) {
  const auto found = object.fields().find(key);
  return found == object.fields().end() ? -1 : found->second.number_value();
}

// Events of one phase, "name pid ts".
std::vector<std::string> Events(const Object& trace, const std::string& phase) {
  std::vector<std::string> texts;
  for (const auto& value : trace.fields().at("traceEvents").list_value().values()) {
    const Object& event = value.struct_value();
    if (Text(event, "ph") != phase) continue;
    texts.push_back(
        absl::StrCat(Text(event, "name"), " ", Number(event, "pid"), " ", Number(event, "ts")));
  }
  return texts;
}

void Add(TraceKind kind, int bucket, int peer, int64_t begin, int64_t end, ProcessTrace* trace) {
  TraceSpan* const span = trace->add_spans();
  span->set_kind(kind);
  span->set_step(5);
  span->set_bucket(bucket);
  span->set_peer(peer);
  span->set_begin_ns(begin);
  span->set_end_ns(end);
}

TEST(ChromeTraceTest, PutsAllProcessesOnOneClock) {
  std::vector<ProcessTrace> traces(2);
  *traces[0].mutable_id() = WorkerId(0);
  traces[0].set_hostname("a \"quoted\" \\ host\n");
  Add(TRACE_STEP, -1, 0, 1'000'000, 9'000'000, &traces[0]);
  Add(TRACE_PUSH, 1, 0, 4'000'000, 5'000'000, &traces[0]);
  Add(TRACE_PUSH, 1, 0, 6'000'000, 7'000'000, &traces[0]);
  *traces[1].mutable_id() = ShardId(0);
  traces[1].set_dropped(3);
  traces[1].mutable_clock()->mutable_first()->set_offset_ns(-2'000'000);
  traces[1].mutable_clock()->mutable_first()->set_error_ns(1500);
  Add(TRACE_QUEUE, 1, 0, 6'500'000, 7'000'000, &traces[1]);
  Add(TRACE_FOLD, 1, 0, 7'000'000, 7'500'000, &traces[1]);
  const Object trace = Parsed(ChromeTrace(traces, {5, 6}));
  EXPECT_THAT(Events(trace, "X"),
              ElementsAre("step 5 1 0", "bucket 1 1 3000", "bucket 1 1 5000", "fold 1 2 4000"));
  // From the first write to where it is taken.
  EXPECT_THAT(Events(trace, "s"), ElementsAre("push 1 3000"));
  EXPECT_THAT(Events(trace, "f"), ElementsAre("push 2 4000"));
  EXPECT_THAT(Events(trace, "b"),
              ElementsAre("in the queue 2 3500", "bucket 1 2 3500", "is folded 2 3500"));
  EXPECT_THAT(Events(trace, "e"),
              ElementsAre("in the queue 2 4000", "is folded 2 4500", "bucket 1 2 4500"));
  const Object& other = trace.fields().at("otherData").struct_value();
  EXPECT_EQ(Text(other, "steps"), "5:6");
  const auto& processes = other.fields().at("processes").list_value();
  EXPECT_EQ(Text(processes.values(0).struct_value(), "host"), "a \"quoted\" \\ host\n");
  EXPECT_EQ(Text(processes.values(1).struct_value(), "name"), "shard 0");
  EXPECT_EQ(Number(processes.values(1).struct_value(), "offset_us"), -2000);
  EXPECT_EQ(Number(processes.values(1).struct_value(), "error_us"), 1.5);
  EXPECT_EQ(Number(processes.values(1).struct_value(), "dropped"), 3);
}

TEST(ChromeTraceTest, NamesProcessesAndLanes) {
  std::vector<ProcessTrace> traces(1);
  *traces[0].mutable_id() = WorkerId(0);
  for (int rank : {0, 3}) Add(TRACE_FORWARD, -1, rank, 1, 2, &traces[0]);
  Add(TRACE_SUM, 0, 0, 2, 3, &traces[0]);
  Add(TRACE_REDUCE_SCATTER, 0, 0, 2, 3, &traces[0]);
  const Object trace = Parsed(ChromeTrace(traces, {1, 9}));
  std::vector<std::string> names;
  for (const auto& value : trace.fields().at("traceEvents").list_value().values()) {
    const Object& event = value.struct_value();
    if (Text(event, "ph") != "M" || Text(event, "name") == "process_sort_index") continue;
    names.push_back(Text(event.fields().at("args").struct_value(), "name"));
  }
  EXPECT_THAT(names, ElementsAre("worker 0", "training", "sums", "reduce-scatter", "rank 3"));
}

TEST(ChromeTraceTest, OfNothing) {
  const Object trace = Parsed(ChromeTrace({}, {1, 2}));
  EXPECT_THAT(Events(trace, "X"), IsEmpty());
}

}  // namespace
}  // namespace ringside
