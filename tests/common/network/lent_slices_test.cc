#include "common/network/lent_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"

namespace ringside {
namespace {

absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

TEST(LentSlicesTest, LendsWithoutACopyAndCounts) {
  const std::vector<uint8_t> memory(1000, 7);
  LentSlices lent;
  {
    const grpc::Slice slice = lent.Lend(memory);
    EXPECT_EQ(slice.begin(), memory.data());
    EXPECT_EQ(slice.size(), memory.size());
    const grpc::Slice other = slice;
    const grpc::Slice empty = lent.Lend({});
    EXPECT_EQ(lent.out(), 2);
    EXPECT_FALSE(lent.AwaitReturn(absl::Now()));
  }
  EXPECT_EQ(lent.out(), 0);
  EXPECT_TRUE(lent.AwaitReturn(absl::Now()));
}

TEST(LentSlicesTest, TheLastReturnWakes) {
  const std::vector<uint8_t> memory(1000);
  LentSlices lent;
  auto slice = std::make_unique<grpc::Slice>(lent.Lend(memory));
  std::thread returns([&] { slice.reset(); });
  EXPECT_TRUE(lent.AwaitReturn(Soon()));
  returns.join();
}

TEST(LentSlicesTest, WhoGivesUpIsWoken) {
  const std::vector<uint8_t> memory(1000);
  LentSlices lent;
  const grpc::Slice slice = lent.Lend(memory);
  std::atomic<bool> give_up{false};
  std::thread gives_up([&] {
    give_up = true;
    lent.Wake();
  });
  EXPECT_FALSE(lent.AwaitReturn(Soon(), &give_up));
  gives_up.join();
}

}  // namespace
}  // namespace ringside
