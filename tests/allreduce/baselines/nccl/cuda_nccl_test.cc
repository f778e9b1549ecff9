// The libraries themselves, as far as this build and this machine have them.
#include "allreduce/baselines/nccl/cuda_nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <vector>

#include "allreduce/baselines/nccl/nccl_all_reducer.h"
#include "common/group.h"

namespace ringside {
namespace {

TEST(CudaNcclTest, MakesUniqueIdsWithoutAGpu) {
  auto cuda = OpenCudaNccl();
  if (!cuda.ok()) GTEST_SKIP() << cuda.status().message();
  const auto first = (*cuda)->NewUniqueId();
  const auto second = (*cuda)->NewUniqueId();
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_EQ(first->size(), 128u);
  EXPECT_NE(*first, *second);
}

TEST(CudaNcclTest, WithoutAGpuEveryUseEndsInOneLine) {
  auto cuda = OpenCudaNccl();
  if (!cuda.ok()) {
    EXPECT_THAT(std::string(cuda.status().message()), testing::HasSubstr("this build has no NCCL"));
    return;
  }
  if ((*cuda)->CountDevices().value_or(0) > 0) GTEST_SKIP() << "this machine has a GPU";
  const absl::Status status = CheckCudaDevice(cuda->get(), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              testing::MatchesRegex(
                  "--device=cuda:0: this machine has no usable CUDA device \\([^\n]+\\)"));
}

TEST(CudaNcclTest, SumsOnAGpu) {
  auto cuda = OpenCudaNccl();
  if (!cuda.ok()) GTEST_SKIP() << cuda.status().message();
  const absl::Status usable = CheckCudaDevice(cuda->get(), 0);
  if (!usable.ok()) GTEST_SKIP() << usable.message();
  // One rank: a communicator has one rank per GPU, and one GPU is all that can be asked for.
  NcclAllReducer::Config config;
  config.group = Group::World(1, 0, 1);
  config.unique_id = *(*cuda)->NewUniqueId();
  config.max_elements = 1 << 20;
  auto reducer = NcclAllReducer::Create(config, *std::move(cuda));
  ASSERT_TRUE(reducer.ok()) << reducer.status();
  EXPECT_THAT((*reducer)->description(), testing::StartsWith("NCCL "));
  for (const size_t length : {size_t{1}, size_t{1000}, size_t{1} << 20}) {
    std::vector<float> in(length);
    std::iota(in.begin(), in.end(), 1.0f);
    std::vector<float> out(length);
    const absl::Status status = (*reducer)->Sum({1, 0}, in, absl::MakeSpan(out));
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(out, in);
  }
}

}  // namespace
}  // namespace ringside
