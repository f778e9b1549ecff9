#include "ps_server/shard_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/suspects.h"
#include "tests/ps_server/shard_frames.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Remembers what the streams were told.
class RecordedStreams final : public ShardExecutor::Streams {
 public:
  void Send(const ParameterShard::Result& result) override {
    MutexLock lock(&mutex_);
    results_.push_back(result);
    changed_.NotifyAll();
  }
  void FrameTaken(int /*worker*/) override {
    MutexLock lock(&mutex_);
    ++taken_;
    changed_.NotifyAll();
  }
  void CloseAll(const absl::Status& failure) override {
    MutexLock lock(&mutex_);
    failure_ = failure;
    changed_.NotifyAll();
  }

  void AwaitTaken(int frames) {
    MutexLock lock(&mutex_);
    while (taken_ < frames) changed_.Wait(&mutex_);
  }
  void AwaitResults(size_t results) {
    MutexLock lock(&mutex_);
    while (results_.size() < results) changed_.Wait(&mutex_);
  }
  absl::Status AwaitFailure() {
    MutexLock lock(&mutex_);
    while (failure_.ok()) changed_.Wait(&mutex_);
    return failure_;
  }
  std::vector<ParameterShard::Result> results() {
    MutexLock lock(&mutex_);
    return results_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<ParameterShard::Result> results_ ABSL_GUARDED_BY(mutex_);
  int taken_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

// The parameter: only the executor's own thread holds the shard, or reactors do, too, since it is
// small.
class ShardExecutorTest : public ::testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<ShardExecutor> Make(absl::Duration step_timeout = absl::Seconds(30),
                                      PsPolicy policy = {}) {
    ParameterShard::Config config{plan_, layout_, 3};
    config.policy = policy;
    config.first_step = first_step_;
    config.full_batch = 2;
    ShardExecutor::Config executor;
    executor.shard = 3;
    executor.world_size = 2;
    executor.step_timeout = step_timeout;
    executor.step_closed = [this](uint64_t step, ParameterShard* shard) {
      EXPECT_EQ(shard->open_step(), step + 1);
      closed_steps_.push_back(step);
      return step == refused_step_ ? absl::DataLossError("the disk is full") : absl::OkStatus();
    };
    executor.step_closed_blocks = GetParam();
    executor.trace = trace_;
    return std::make_unique<ShardExecutor>(std::move(executor), MakeShard(std::move(config)),
                                           &streams_);
  }

  // Pushes all units of one worker's step.
  void PushAll(ShardExecutor* executor, int worker, uint64_t step) const {
    for (int unit = 0; unit < table_.size(); ++unit) {
      Frame frame = RandomPush(plan_, table_.unit(unit), worker, step);
      executor->PushFrame(frame.header, std::move(frame.payload));
    }
  }
  void Finish(ShardExecutor* executor, int worker) const {
    executor->PushFrame(HeaderOf(FrameKind::kFinish, worker, 0), {});
  }

  const BucketPlan plan_ = PlanWithBuckets({64, 9});
  const ShardLayout layout_{2, 4, 16};
  const UnitTable table_{plan_, layout_, 3};
  uint64_t first_step_ = 0;
  TraceBuffer* trace_ = nullptr;
  uint64_t refused_step_ = ~uint64_t{0};
  RecordedStreams streams_;
  std::vector<uint64_t> closed_steps_;  // by who holds the shard; read after Await
};

INSTANTIATE_TEST_SUITE_P(AnyHolder, ShardExecutorTest, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& info) {
                           return info.param ? "OwnThreadAlone" : "ReactorsToo";
                         });

TEST_P(ShardExecutorTest, EndsWhenEveryWorkerHasFinishedAndEndedItsStream) {
  const auto executor = Make();
  const auto units = static_cast<size_t>(table_.size());
  const auto run = [&](int worker) {
    for (uint64_t step = 0; step < 3; ++step) {
      PushAll(executor.get(), worker, step);
      streams_.AwaitResults((step + 1) * units);
    }
    Finish(executor.get(), worker);
    streams_.AwaitResults(3 * units + 1);
    executor->StreamEnded(worker, absl::OkStatus());
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
  EXPECT_TRUE(executor->Await().ok());
  EXPECT_EQ(closed_steps_, (std::vector<uint64_t>{0, 1, 2}));
  const ShardExecutor::Account account = executor->account();
  EXPECT_EQ(account.steps, 3);
  EXPECT_EQ(account.frames, 3 * 2 * table_.size() + 2);
  EXPECT_EQ(account.units, table_.size());
  EXPECT_EQ(account.statistics.pushes, 3 * 2 * table_.size());
  EXPECT_EQ(account.statistics.answers, 3 * 2 * table_.size());
  EXPECT_GT(account.fold_time, absl::ZeroDuration());
  EXPECT_GT(account.queue_time, absl::ZeroDuration());
  EXPECT_EQ(streams_.results().back().header.kind, FrameKind::kFinish);
}

TEST_P(ShardExecutorTest, TracesThePushesOfTheWindow) {
  TraceBuffer buffer({1, 1}, 100);
  trace_ = &buffer;
  const auto executor = Make();
  const auto units = static_cast<size_t>(table_.size());
  for (uint64_t step = 0; step < 3; ++step) {
    for (int worker : {0, 1}) PushAll(executor.get(), worker, step);
    streams_.AwaitResults((step + 1) * units);
  }
  executor->Stop(absl::OkStatus());
  EXPECT_FALSE(executor->Await().ok());
  ProcessTrace trace;
  buffer.AppendTo(&trace);
  std::map<std::pair<TraceKind, int>, size_t> count;  // by kind and worker
  for (const TraceSpan& span : trace.spans()) {
    EXPECT_EQ(span.step(), 1);
    EXPECT_LE(span.begin_ns(), span.end_ns());
    ++count[{span.kind(), span.peer()}];
  }
  // Worker 1 comes second, and completes every unit.
  const std::map<std::pair<TraceKind, int>, size_t> expected = {{{TRACE_QUEUE, 0}, units},
                                                                {{TRACE_QUEUE, 1}, units},
                                                                {{TRACE_PARK, 0}, units},
                                                                {{TRACE_FOLD, 1}, units}};
  EXPECT_EQ(count, expected);
}

TEST_P(ShardExecutorTest, AsynchronousAnswersGoToOneWorker) {
  const auto executor = Make(absl::Seconds(30), {PsMode::kAsync});
  const auto units = static_cast<size_t>(table_.size());
  PushAll(executor.get(), 0, 0);
  PushAll(executor.get(), 0, 1);
  streams_.AwaitResults(2 * units);
  for (const auto& result : streams_.results()) EXPECT_EQ(result.worker, 0);
  Finish(executor.get(), 0);
  Finish(executor.get(), 1);
  streams_.AwaitResults(4 * units + 1);  // the final parameters, then the last word
  for (int worker : {0, 1}) executor->StreamEnded(worker, absl::OkStatus());
  EXPECT_TRUE(executor->Await().ok());
}

TEST_P(ShardExecutorTest, FollowsElections) {
  const auto executor = Make(absl::Seconds(30), {PsMode::kBackup, false, 0, 1});
  const auto units = static_cast<size_t>(table_.size());
  for (int worker : {0, 1}) PushAll(executor.get(), worker, 0);
  PushAll(executor.get(), 1, 1);
  streams_.AwaitResults(2 * units);
  executor->Elect({1, {1}});
  streams_.AwaitResults(3 * units);
  for (size_t i = 2 * units; i < 3 * units; ++i) {
    EXPECT_EQ(streams_.results()[i].worker, 1);
    EXPECT_EQ(streams_.results()[i].header.step, 1u);
  }
  executor->Elect({1, {0}});
  EXPECT_EQ(executor->Await().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(closed_steps_, ElementsAre(0, 1));
}

TEST_P(ShardExecutorTest, WhatStepClosedReturnsEndsTheWork) {
  refused_step_ = 1;
  const auto executor = Make();
  for (uint64_t step : {0, 1}) PushAll(executor.get(), 0, step), PushAll(executor.get(), 1, step);
  EXPECT_EQ(executor->Await(), absl::DataLossError("the disk is full"));
  EXPECT_EQ(streams_.AwaitFailure(), executor->Await());
}

TEST_P(ShardExecutorTest, NamesTheWorkerThatOthersWaitFor) {
  const auto executor = Make(absl::Milliseconds(50));
  PushAll(executor.get(), 0, 0);
  const absl::Status status = executor->Await();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "shard 3 has waited 50ms for worker 1 at step 0 bucket 0 (64 bytes)");
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
  EXPECT_EQ(streams_.AwaitFailure(), status);
}

TEST_P(ShardExecutorTest, NamesTheWorkerThatDoesNotFinish) {
  const auto executor = Make(absl::Milliseconds(50));
  Finish(executor.get(), 1);
  const absl::Status status = executor->Await();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "shard 3 has waited 50ms for worker 0 to finish, as others have");
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 0");
}

TEST_P(ShardExecutorTest, NamesShard0WhereItDoesNotSayWhoCounts) {
  first_step_ = 1;
  const auto executor = Make(absl::Milliseconds(50), {PsMode::kBackup, false, 0, 1});
  PushAll(executor.get(), 1, 1);
  const absl::Status status = executor->Await();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "shard 3 has waited 50ms for shard 0 to say who counts in step 1");
  EXPECT_EQ(ToString(SuspectsOf(status)), "shard 0");
}

TEST_P(ShardExecutorTest, ABrokenStreamIsAFailureThatNamesTheWorker) {
  const auto executor = Make();
  executor->StreamEnded(1, absl::UnavailableError("connection reset"));
  const absl::Status status = executor->Await();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "shard 3: the stream of worker 1 broke at step 0: connection reset");
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
}

TEST_P(ShardExecutorTest, AWorkerThatEndsBeforeItHasFinishedIsNamedAtOnce) {
  const auto executor = Make();
  PushAll(executor.get(), 1, 0);
  executor->StreamEnded(1, absl::OkStatus());
  const absl::Status status = executor->Await();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            "shard 3: the stream of worker 1 has ended before the end of training at step 0");
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
}

TEST_P(ShardExecutorTest, ARefusedFrameEndsTheWork) {
  const auto executor = Make();
  PushAll(executor.get(), 0, 7);
  EXPECT_EQ(executor->Await().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ToString(SuspectsOf(executor->Await())), "worker 0");
}

TEST_P(ShardExecutorTest, StopEndsTheWorkWithItsReason) {
  const auto executor = Make();
  executor->Stop(absl::AbortedError("worker 1 was lost"));
  executor->Stop(absl::AbortedError("too late"));
  EXPECT_EQ(executor->Await(), absl::AbortedError("worker 1 was lost"));
  PushAll(executor.get(), 0, 0);  // nobody takes it, nothing breaks
}

TEST_P(ShardExecutorTest, StopWithoutAReasonIsACancellation) {
  const auto executor = Make();
  executor->Stop(absl::OkStatus());
  EXPECT_EQ(executor->Await().code(), absl::StatusCode::kCancelled);
}

// What is done on the pushing thread is done when PushFrame returns.
TEST_P(ShardExecutorTest, AReactorAnswersItselfWhereTheShardIsSmall) {
  if (GetParam()) GTEST_SKIP() << "only where reactors may hold the shard";
  const auto executor = Make();
  for (int worker : {0, 1}) PushAll(executor.get(), worker, 0);
  EXPECT_EQ(streams_.results().size(), static_cast<size_t>(table_.size()));
  EXPECT_EQ(executor->account().steps, 1);
}

// Every frame is pushed by a thread of its own, as gRPC may do.
TEST_P(ShardExecutorTest, FramesFromManyThreadsAtOnce) {
  const auto executor = Make();
  for (uint64_t step = 0; step < 50; ++step) {
    std::vector<std::thread> threads;
    for (int worker : {0, 1}) {
      for (int unit = 0; unit < table_.size(); ++unit) {
        threads.emplace_back([&, worker, unit, step] {
          Frame frame = RandomPush(plan_, table_.unit(unit), worker, step);
          executor->PushFrame(frame.header, std::move(frame.payload));
        });
      }
    }
    for (std::thread& thread : threads) thread.join();
    streams_.AwaitResults((step + 1) * static_cast<size_t>(table_.size()));
  }
  executor->Stop(absl::CancelledError("enough"));
  EXPECT_EQ(executor->Await().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(closed_steps_.size(), 50u);
  EXPECT_EQ(executor->account().frames, 50 * 2 * table_.size());
}

}  // namespace
}  // namespace ringside
