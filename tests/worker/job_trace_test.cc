#include "worker/job_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/suspects.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

JobConfig TracedJob() {
  JobConfig job;
  job.steps = 10;
  job.trace_steps = "2:3";
  return job;
}

BucketPlan Plan() { return *BucketPlan::Create({{"a", {100}}, {"b", {10}}}, 4, 4); }

TEST(JobTraceTest, OffThereIsNoBuffer) {
  JobTrace trace(JobConfig(), Plan(), 1);
  EXPECT_EQ(trace.buffer(), nullptr);
  WorkerResult result;
  ClockAlignment clock;
  clock.mutable_first()->set_offset_ns(7);
  trace.Describe(0, clock, &result);
  EXPECT_FALSE(result.has_trace());
  EXPECT_EQ(result.clock().first().offset_ns(), 7);
}

TEST(JobTraceTest, TracesTravelWithTheResultsAndAreTakenOut) {
  JobTrace trace(TracedJob(), Plan(), 1);
  TraceScope(trace.buffer(), TRACE_SUM, 2, 1, 4);
  RunResult run;
  trace.Describe(4, ClockAlignment(), run.add_worker_results());
  run.add_worker_results();  // whose process traced nothing
  *run.add_shard_results()->mutable_trace()->mutable_id() = ShardId(1);
  const std::vector<ProcessTrace> traces = TakeTraces(&run);
  ASSERT_EQ(traces.size(), 2u);
  EXPECT_EQ(ToString(traces[0].id()), "worker 4");
  ASSERT_EQ(traces[0].spans_size(), 1);
  EXPECT_FALSE(traces[0].hostname().empty());
  EXPECT_EQ(ToString(traces[1].id()), "shard 1");
  EXPECT_FALSE(run.worker_results(0).has_trace());
  EXPECT_FALSE(run.shard_results(0).has_trace());
}

TEST(JobTraceTest, WritesTheTraceOrSaysWhyNot) {
  std::string folder = ::testing::TempDir() + "/job_trace_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  ASSERT_TRUE(WriteTrace({}, {1, 2}, folder).ok());
  std::ifstream file(folder + "/trace.json");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr("\"traceEvents\""));
  const absl::Status failed = WriteTrace({}, {1, 2}, folder + "/none");
  EXPECT_EQ(failed.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(failed.message()), HasSubstr(folder + "/none/trace.json"));
  std::filesystem::remove_all(folder);
}

TEST(JobTraceTest, ATraceNeedsAFolder) {
  JobConfig job = TracedJob();
  EXPECT_EQ(RequireTraceFolder(job).message(),
            "--trace_steps=2:3: needs --out=DIR (of worker 0), where trace.json is to be");
  job.out = "somewhere";
  EXPECT_TRUE(RequireTraceFolder(job).ok());
  EXPECT_TRUE(RequireTraceFolder(JobConfig()).ok());
}

}  // namespace
}  // namespace ringside
