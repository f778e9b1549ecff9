#include "common/config/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

TEST(DeviceTest, ReadsAllForms) {
  EXPECT_EQ(ParseDevice("cpu")->kind, Device::Kind::kCpu);
  EXPECT_EQ(ParseDevice("cuda:LOCAL_RANK")->kind, Device::Kind::kCudaLocalRank);
  const auto device = ParseDevice("cuda:13");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(device->kind, Device::Kind::kCuda);
  EXPECT_EQ(device->index, 13);
}

TEST(DeviceTest, AnythingElseIsNamedWithWhatIsAllowed) {
  for (const char* text : {"", "gpu", "CPU", "cpu:0", "cuda", "cuda:", "cuda:-1", "cuda:+1",
                           "cuda: 1", "cuda:1x", "cuda:local_rank", "cuda:99999999999"}) {
    EXPECT_EQ(ParseDevice(text).status(),
              absl::InvalidArgumentError(absl::StrCat(
                  "--device=", text, ": must be cpu, cuda:N (a GPU's number) or cuda:LOCAL_RANK")));
  }
}

}  // namespace
}  // namespace ringside
