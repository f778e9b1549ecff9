#include "allreduce/baselines/nccl/nccl_all_reducer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "common/suspects.h"
#include "tests/testing/fake_cuda_nccl.h"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class NcclAllReducerTest : public testing::Test {
 protected:
  static constexpr CollectiveId kId = {7, 3};

  // Worker 1 of 3 on cuda:1.
  absl::StatusOr<std::unique_ptr<NcclAllReducer>> Create(
      const std::function<void(NcclAllReducer::Config*)>& adjust = nullptr) {
    NcclAllReducer::Config config;
    config.group = Group::World(3, 1, 5);
    config.device = 1;
    config.unique_id = "id";
    config.max_elements = 100;
    if (adjust != nullptr) adjust(&config);
    return NcclAllReducer::Create(std::move(config), std::make_unique<FakeCudaNccl>(&gpu_));
  }

  std::unique_ptr<NcclAllReducer> Connected(absl::Duration step_timeout = absl::Seconds(30)) {
    auto reducer = Create([&](auto* config) { config->step_timeout = step_timeout; });
    EXPECT_TRUE(reducer.ok()) << reducer.status();
    return *std::move(reducer);
  }

  absl::Status SumOf(NcclAllReducer* reducer, size_t elements = 2) {
    std::vector<float> buffer(elements, 1);
    return reducer->Sum(kId, buffer, absl::MakeSpan(buffer));
  }

  FakeGpu gpu_;
};

TEST_F(NcclAllReducerTest, ConnectsSumsAndEndsInOrder) {
  auto reducer = Connected();
  const std::vector<float> in = {1, 2, 3};
  std::vector<float> out(3);
  ASSERT_TRUE(reducer->Sum(kId, in, absl::MakeSpan(out)).ok());
  EXPECT_THAT(in, ElementsAre(1, 2, 3));
  EXPECT_THAT(out, ElementsAre(11, 12, 13));
  EXPECT_TRUE(reducer->Sum({8, 0}, {}, {}).ok());
  EXPECT_EQ(reducer->traffic(), TrafficCounters());
  EXPECT_EQ(reducer->description(), "a fake");
  reducer.reset();
  EXPECT_THAT(gpu_.calls(), ElementsAre("allocate 100", "connect \"id\" 1 of 3 on 1", "to device",
                                        "all-reduce 3", "to host", "event", "finalize", "destroy"));
}

TEST_F(NcclAllReducerTest, SumsInPlace) {
  auto reducer = Connected();
  std::vector<float> buffer = {1, 2};
  ASSERT_TRUE(reducer->Sum(kId, buffer, absl::MakeSpan(buffer)).ok());
  EXPECT_THAT(buffer, ElementsAre(11, 12));
}

TEST_F(NcclAllReducerTest, AnAsynchronousErrorSurfacesWithItsTextAndEndsTheCommunicator) {
  auto reducer = Connected();
  gpu_.completes = false;
  gpu_.SetAsyncError(absl::UnavailableError("remote process exited"));
  const absl::Status status = SumOf(reducer.get());
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(std::string(status.message()),
            "nccl, sum of step 7 bucket 3 (2 elements): remote process exited");
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 0, worker 2");
  EXPECT_EQ(gpu_.Count("abort"), 1);
  EXPECT_EQ(SumOf(reducer.get()), status);  // sticky
  EXPECT_EQ(gpu_.Count("to device"), 1);
  reducer.reset();
  EXPECT_EQ(gpu_.Count("finalize"), 0);
}

TEST_F(NcclAllReducerTest, AnErrorOfItsOwnSuspectsNobodyElse) {
  auto reducer = Connected();
  gpu_.copy_error = absl::InternalError("cudaMemcpyAsync: unspecified launch failure");
  const absl::Status status = SumOf(reducer.get());
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("unspecified launch failure"));
  EXPECT_TRUE(SuspectsOf(status).empty());
  EXPECT_EQ(gpu_.Count("abort"), 1);
}

TEST_F(NcclAllReducerTest, ATimeoutEndsTheCommunicatorAndNamesTheStep) {
  gpu_.completes = false;
  auto reducer = Connected(absl::Milliseconds(30));
  const absl::Status status = SumOf(reducer.get());
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_EQ(std::string(status.message()),
            "nccl, sum of step 7 bucket 3 (2 elements): has waited for the sum, 30ms");
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 0, worker 2");
  EXPECT_EQ(gpu_.Count("abort"), 1);
}

TEST_F(NcclAllReducerTest, AbortWakesAWaitingSumAndEndsTheCommunicator) {
  gpu_.completes = false;
  auto reducer = Connected();
  const absl::Status verdict = absl::AbortedError("worker 2 was lost at step 7");
  std::thread thread([&] {
    gpu_.AwaitEventPoll();
    reducer->Abort(verdict);
  });
  EXPECT_EQ(SumOf(reducer.get()), verdict);
  thread.join();
  EXPECT_EQ(gpu_.Count("abort"), 1);
  EXPECT_EQ(SumOf(reducer.get()), verdict);
}

TEST_F(NcclAllReducerTest, RanksThatDoNotComeAreNamed) {
  gpu_.connects = false;
  const absl::Status status =
      Create([](auto* config) { config->connect_timeout = absl::Milliseconds(20); }).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_EQ(std::string(status.message()),
            "nccl, communicator of 3 ranks on cuda:1: has waited for the other ranks, 20ms");
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 0, worker 2");
  EXPECT_EQ(gpu_.Count("abort"), 1);
}

TEST_F(NcclAllReducerTest, ASumThatIsTooLongIsRefused) {
  auto reducer = Connected();
  const absl::Status status = SumOf(reducer.get(), 101);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(
      std::string(status.message()),
      "nccl, sum of step 7 bucket 3 (101 elements): the sum was to have 100 elements at most");
}

TEST_F(NcclAllReducerTest, NoGpuIsOneClearLine) {
  gpu_.devices = absl::FailedPreconditionError("no CUDA-capable device is detected");
  EXPECT_EQ(Create([](auto* config) { config->device = 0; }).status(),
            absl::FailedPreconditionError("--device=cuda:0: this machine has no usable CUDA device "
                                          "(no CUDA-capable device is detected)"));
  gpu_.devices = 0;
  EXPECT_EQ(std::string(Create().status().message()),
            "--device=cuda:1: this machine has no usable CUDA device (it has none at all)");
  gpu_.devices = 1;
  EXPECT_EQ(std::string(Create().status().message()),
            "--device=cuda:1: this machine has 1 CUDA device, cuda:0");
  gpu_.devices = 4;
  EXPECT_EQ(std::string(Create([](auto* config) { config->device = 4; }).status().message()),
            "--device=cuda:4: this machine has 4 CUDA devices, cuda:0 to cuda:3");
  EXPECT_TRUE(gpu_.calls().empty());
}

TEST_F(NcclAllReducerTest, RefusesABadConfiguration) {
  for (const auto& spoil : std::vector<std::function<void(NcclAllReducer::Config*)>>{
           [](auto* config) { config->group.index = 3; },
           [](auto* config) { config->max_elements = 0; },
           [](auto* config) { config->step_timeout = absl::ZeroDuration(); },
           [](auto* config) { config->connect_timeout = absl::ZeroDuration(); }}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Create(spoil).status()));
  }
}

}  // namespace
}  // namespace ringside
