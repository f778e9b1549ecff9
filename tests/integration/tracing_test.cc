// Traces of real jobs, read back; and ranks that are made slow, found again.
#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/integration/job.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

// One event of trace.json.
struct Event {
  std::string phase;
  std::string process;
  std::string name;
  double begin = 0;  // microseconds
  double end = 0;
  int64_t step = -1;
  int64_t bucket = -1;
  int64_t peer = -1;
  double id = -1;  // of arrows
};

struct Trace {
  std::vector<Event> events;
  std::map<std::string, double> error_us;  // by process
  std::string steps;
};

const google::protobuf::Value& Field(const google::protobuf::Struct& object,
                                     const std::string& name) {
  static const google::protobuf::Value none;
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? none : found->second;
}

class TraceTest : public JobTest {
 protected:
  TraceTest() { std::ofstream(folder() + "/shapes.txt") << "first 3000\nmiddle 70 50\nlast 300\n"; }

  std::vector<std::string> Flags(const std::string& strategy, int compute_ms,
                                 const std::vector<std::string>& more) const {
    std::vector<std::string> flags = {"--strategy=" + strategy, "--workers=3",    "--ps_shards=2",
                                      "--batch_size=4",         "--model=shapes", "--steps=12",
                                      "--warmup_steps=2"};
    flags.push_back(
        absl::StrCat("--model_args=file=", folder(), "/shapes.txt,compute_ms=", compute_ms));
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }

  Trace ReadTrace(const std::string& out) const {
    std::ifstream file(out + "/trace.json");
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    google::protobuf::Struct root;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(text, &root).ok()) << text;
    Trace trace;
    std::map<int, std::string> processes;  // their names come first
    for (const auto& value : Field(root, "traceEvents").list_value().values()) {
      const google::protobuf::Struct& object = value.struct_value();
      const auto& arguments = Field(object, "args").struct_value();
      const int pid = static_cast<int>(Field(object, "pid").number_value());
      Event event;
      event.phase = Field(object, "ph").string_value();
      event.name = Field(object, "name").string_value();
      if (event.name == "process_name") {
        processes[pid] = Field(arguments, "name").string_value();
      }
      event.process = processes[pid];
      event.begin = Field(object, "ts").number_value();
      event.end = event.begin + Field(object, "dur").number_value();
      if (arguments.fields().count("step") > 0) {
        event.step = static_cast<int64_t>(Field(arguments, "step").number_value());
        event.bucket = static_cast<int64_t>(Field(arguments, "bucket").number_value());
        event.peer = static_cast<int64_t>(Field(arguments, "peer").number_value());
      }
      event.id = Field(object, "id").number_value();
      if (event.phase != "M") trace.events.push_back(event);
    }
    const auto& other = Field(root, "otherData").struct_value();
    trace.steps = Field(other, "steps").string_value();
    for (const auto& value : Field(other, "processes").list_value().values()) {
      const auto& process = value.struct_value();
      EXPECT_EQ(Field(process, "dropped").number_value(), 0);
      EXPECT_GT(Field(process, "spans").number_value(), 0);
      trace.error_us[Field(process, "name").string_value()] =
          Field(process, "error_us").number_value();
    }
    return trace;
  }

  static std::vector<Event> Named(const Trace& trace, const std::string& process,
                                  const std::string& name, int64_t step) {
    std::vector<Event> found;
    for (const Event& event : trace.events) {
      const bool spans = event.phase == "X" || event.phase == "b";
      if (spans && event.process == process && event.name == name && event.step == step)
        found.push_back(event);
    }
    return found;
  }

  static std::set<std::string> Processes(const Trace& trace) {
    std::set<std::string> names;
    for (const Event& event : trace.events) names.insert(event.process);
    return names;
  }
};

TEST_F(TraceTest, OfARingHasAllRanksAndTheStepsOfTheWindow) {
  Run("out", Flags("ring", 3, {"--trace_steps=4:6"}));
  const Trace trace = ReadTrace(folder() + "/out");
  EXPECT_EQ(trace.steps, "4:6");
  EXPECT_EQ(Processes(trace), (std::set<std::string>{"worker 0", "worker 1", "worker 2"}));
  for (const Event& event : trace.events) {
    if (event.step < 0) continue;
    EXPECT_GE(event.step, 4) << event.name;
    EXPECT_LE(event.step, 6) << event.name;
  }
  for (const std::string& process : Processes(trace)) {
    for (int64_t step = 4; step <= 6; ++step) {
      const auto whole = Named(trace, process, absl::StrCat("step ", step), step);
      ASSERT_EQ(whole.size(), 1u);
      for (const char* part : {"data", "forward", "backward", "wait", "optimizer"}) {
        const auto found = Named(trace, process, part, step);
        ASSERT_EQ(found.size(), 1u) << part;
        EXPECT_GE(found[0].begin, whole[0].begin - 0.01) << part;
        EXPECT_LE(found[0].end, whole[0].end + 0.01) << part;
      }
      EXPECT_GE(Named(trace, process, "forward", step)[0].end -
                    Named(trace, process, "forward", step)[0].begin,
                999);
      const auto optimizer = Named(trace, process, "optimizer", step)[0];
      const auto sent = Named(trace, process, "on the wire", step);
      ASSERT_FALSE(sent.empty());
      for (const Event& bucket : sent) EXPECT_LE(bucket.begin, optimizer.begin);
    }
  }
}

TEST_F(TraceTest, OfServersIsOnOneClock) {
  Run("out", Flags("ps", 3, {"--trace_steps=5:6"}));
  const Trace trace = ReadTrace(folder() + "/out");
  const std::set<std::string> all = {"worker 0", "worker 1", "worker 2", "shard 0", "shard 1"};
  EXPECT_EQ(Processes(trace), all);
  double error_us = 0;
  for (const auto& [process, error] : trace.error_us) error_us = std::max(error_us, error);
  // Of each bucket and step: who submitted first, and when the last push came.
  std::map<std::pair<int64_t, int64_t>, double> submitted;
  std::map<std::pair<int64_t, int64_t>, double> arrived;
  std::map<double, double> arrows;
  for (const Event& event : trace.events) {
    const std::pair<int64_t, int64_t> key(event.step, event.bucket);
    if (absl::StartsWith(event.name, "submit ")) {
      const auto first = submitted.emplace(key, event.begin).first;
      first->second = std::min(first->second, event.begin);
    } else if (event.name == "in the queue" && event.phase == "b") {
      arrived[key] = std::max(arrived[key], event.begin);
    } else if (event.phase == "s") {
      arrows[event.id] = event.begin;
    }
  }
  ASSERT_FALSE(submitted.empty());
  ASSERT_EQ(submitted.size(), arrived.size());
  for (const auto& [key, time] : submitted) {
    EXPECT_GE(arrived[key], time - 2 * error_us)
        << "step " << key.first << " bucket " << key.second;
  }
  int ends = 0;
  for (const Event& event : trace.events) {
    if (event.phase != "f") continue;
    ++ends;
    ASSERT_EQ(arrows.count(event.id), 1u);
    EXPECT_GE(event.begin, arrows[event.id] - 2 * error_us);
  }
  EXPECT_EQ(static_cast<size_t>(ends), arrows.size());
  EXPECT_GT(ends, 0);
  for (const char* shard : {"shard 0", "shard 1"}) {
    EXPECT_FALSE(Named(trace, shard, "arrives", 5).empty());
    EXPECT_FALSE(Named(trace, shard, "reply", 6).empty());
    EXPECT_TRUE(Named(trace, shard, "reply", 4).empty());
  }
}

TEST_F(TraceTest, OneProcessIsTracedToo) {
  Run("out", Flags("local", 3, {"--trace_steps=12:20"}));
  const Trace trace = ReadTrace(folder() + "/out");
  EXPECT_EQ(Processes(trace), (std::set<std::string>{"worker 0"}));
  EXPECT_EQ(Named(trace, "worker 0", "forward", 12).size(), 3u);
}

TEST_F(TraceTest, WithoutAFolderItIsRefused) {
  for (const char* binary : {"ringside", "worker"}) {
    std::vector<std::string> flags = Flags("local", 1, {"--trace_steps=1:2"});
    if (binary == std::string("ringside")) flags.insert(flags.begin(), "run");
    const TestProcess::Ended ended = RunProcess(Command(binary, flags), absl::Minutes(1));
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.output, HasSubstr("--trace_steps=1:2: needs --out=DIR"));
  }
}

TEST_F(TraceTest, ASlowRankIsNamedInBothStrategies) {
  for (const std::string strategy : {"ring", "ps"}) {
    std::vector<std::string> flags = JobFlags(Flags(strategy, 5, {"--stragglers=1:50ms"}));
    flags.insert(flags.begin(), "run");
    flags.push_back("--out=" + folder() + "/" + strategy);
    const TestProcess::Ended ended = RunProcess(Command("ringside", flags), absl::Minutes(2));
    EXPECT_EQ(ended.status, 0) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("worker 1 kept the others waiting in 10 of 10 steps"));
    EXPECT_THAT(ended.output, HasSubstr("(chronic)"));
    const RunResult run = ReadResult(folder() + "/" + strategy).runs(0);
    for (const WorkerResult& worker : run.worker_results()) {
      EXPECT_FALSE(worker.has_trace());
      for (const StepRecord& step : worker.steps()) {
        if (worker.rank() == 1) {
          EXPECT_GE(step.forward_s(), 0.050);
          continue;
        }
        EXPECT_LE(step.wait_slowest_s(), step.exposed_comm_s());
        if (step.step() > 2) {
          EXPECT_GT(step.wait_slowest_s(), 0.025);
        }
      }
    }
  }
}

TEST_F(TraceTest, ADelayOfSomeStepsIsTold) {
  const RunResult run = Run("out", Flags("ring", 5, {"--stragglers=2:60ms@7:7"})).runs(0);
  double shortest_other = 1;
  for (const StepRecord& step : run.worker_results(2).steps()) {
    if (step.step() == 7) {
      EXPECT_GE(step.forward_s(), 0.060);
    } else {
      shortest_other = std::min(shortest_other, step.forward_s());
    }
  }
  EXPECT_LT(shortest_other, 0.060);
}

}  // namespace
}  // namespace ringside
