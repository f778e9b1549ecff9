#include "ps_server/shard_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "common/suspects.h"
#include "tests/testing/random_gradients.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

// Remembers what the streams were told.
class RecordedStreams final : public ShardExecutor::Streams {
 public:
  void SendToAll(const ParameterShard::Result& result) override {
    MutexLock lock(&mutex_);
    results_.push_back(result);
    changed_.NotifyAll();
  }
  void Send(int /*worker*/, const ParameterShard::Result& result) override { SendToAll(result); }
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
  absl::Status AwaitFailure() {
    MutexLock lock(&mutex_);
    while (failure_.ok()) changed_.Wait(&mutex_);
    return failure_;
  }
  size_t results() {
    MutexLock lock(&mutex_);
    return results_.size();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<ParameterShard::Result> results_ ABSL_GUARDED_BY(mutex_);
  int taken_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

class ShardExecutorTest : public ::testing::Test {
 protected:
  std::unique_ptr<ShardExecutor> Make(absl::Duration step_timeout = absl::Seconds(30)) {
    auto shard = ParameterShard::Create({plan_, layout_, 3, 0, 1, 0});
    EXPECT_TRUE(shard.ok()) << shard.status();
    return std::make_unique<ShardExecutor>(
        ShardExecutor::Config{3, 2, step_timeout,
                              [this](uint64_t step) { closed_steps_.push_back(step); }},
        std::move(shard).value(), &streams_);
  }

  // Pushes all units of one worker's step.
  void PushAll(ShardExecutor* executor, int worker, uint64_t step) {
    for (int i = 0; i < table_.size(); ++i) {
      const UnitTable::Unit& unit = table_.unit(i);
      FrameHeader header;
      header.generation = 1;
      header.step = step;
      header.bucket = static_cast<uint32_t>(unit.bucket);
      header.sender = static_cast<uint32_t>(worker);
      header.offset = static_cast<uint64_t>(unit.range.begin);
      header.elements = static_cast<uint32_t>(unit.range.length);
      auto memory = std::make_shared<std::vector<float>>(unit.range.length, 1.0f);
      const auto* bytes = reinterpret_cast<const uint8_t*>(memory->data());
      executor->PushFrame(header, FramePayload({{bytes, memory->size() * sizeof(float)}}, memory));
    }
  }

  const BucketPlan plan_ = PlanWithBuckets({64, 9});
  const ShardLayout layout_{2, 4, 16};
  const UnitTable table_{plan_, layout_, 3};
  RecordedStreams streams_;
  std::vector<uint64_t> closed_steps_;  // by the executor's thread; read after Await
};

TEST_F(ShardExecutorTest, EndsWhenEveryWorkerHasEndedItsStream) {
  const auto executor = Make();
  std::thread other([&] {
    for (uint64_t step = 0; step < 3; ++step) {
      PushAll(executor.get(), 1, step);
      streams_.AwaitTaken(static_cast<int>(step + 1) * 2 * table_.size());
    }
    executor->StreamEnded(1, absl::OkStatus());
  });
  for (uint64_t step = 0; step < 3; ++step) {
    PushAll(executor.get(), 0, step);
    streams_.AwaitTaken(static_cast<int>(step + 1) * 2 * table_.size());
  }
  executor->StreamEnded(0, absl::OkStatus());
  other.join();
  EXPECT_TRUE(executor->Await().ok());
  EXPECT_EQ(executor->account().steps, 3);
  EXPECT_EQ(closed_steps_, (std::vector<uint64_t>{0, 1, 2}));
  EXPECT_GT(executor->account().fold_time, absl::ZeroDuration());
  EXPECT_EQ(streams_.results(), 3u * table_.size());
}

TEST_F(ShardExecutorTest, NamesTheWorkerThatOthersWaitFor) {
  const auto executor = Make(absl::Milliseconds(50));
  PushAll(executor.get(), 0, 0);
  const absl::Status status = executor->Await();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "shard 3 has waited 50ms for worker 1 at step 0 bucket 0 (64 bytes)");
  ASSERT_EQ(SuspectsOf(status).size(), 1u);
  EXPECT_EQ(ToString(SuspectsOf(status)[0]), "worker 1");
  EXPECT_EQ(streams_.AwaitFailure(), status);
}

TEST_F(ShardExecutorTest, ABrokenStreamIsAFailureThatNamesTheWorker) {
  const auto executor = Make();
  executor->StreamEnded(1, absl::UnavailableError("connection reset"));
  const absl::Status status = executor->Await();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "shard 3: the stream of worker 1 broke at step 0: connection reset");
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
}

TEST_F(ShardExecutorTest, AWorkerThatEndsInAnOpenStepIsNamedAtOnce) {
  const auto executor = Make();
  executor->StreamEnded(1, absl::OkStatus());
  PushAll(executor.get(), 0, 0);
  const absl::Status status = executor->Await();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("worker 1 has ended its stream, but step 0 needs it"));
}

TEST_F(ShardExecutorTest, ARefusedFrameEndsTheWork) {
  const auto executor = Make();
  PushAll(executor.get(), 0, 7);
  EXPECT_EQ(executor->Await().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ToString(SuspectsOf(executor->Await())), "worker 0");
}

TEST_F(ShardExecutorTest, StopEndsTheWorkWithItsReason) {
  const auto executor = Make();
  executor->Stop(absl::AbortedError("worker 1 was lost"));
  executor->Stop(absl::AbortedError("too late"));
  EXPECT_EQ(executor->Await(), absl::AbortedError("worker 1 was lost"));
  PushAll(executor.get(), 0, 0);  // nobody takes it, nothing breaks
}

}  // namespace
}  // namespace ringside
