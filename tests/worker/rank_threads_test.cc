#include "worker/rank_threads.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace ringside {
namespace {

TEST(RankThreadsTest, EveryNumberIsServedByTheSameThreadEveryTime) {
  const auto threads = *RankThreads::Start(4, nullptr);
  std::vector<std::thread::id> first(4), second(4);
  ASSERT_TRUE(threads
                  ->Run([&](int index) {
                    first[index] = std::this_thread::get_id();
                    return absl::OkStatus();
                  })
                  .ok());
  ASSERT_TRUE(threads
                  ->Run([&](int index) {
                    second[index] = std::this_thread::get_id();
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(first, second);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NE(first[i], std::this_thread::get_id());
    for (int j = 0; j < i; ++j) EXPECT_NE(first[i], first[j]);
  }
}

TEST(RankThreadsTest, TheErrorIsOfTheLowestNumberAndTheNextRoundIsNew) {
  const auto threads = *RankThreads::Start(3, nullptr);
  EXPECT_EQ(threads->Run([](int index) {
    return index == 0 ? absl::OkStatus() : absl::InternalError(index == 1 ? "one" : "two");
  }),
            absl::InternalError("one"));
  EXPECT_TRUE(threads->Run([](int) { return absl::OkStatus(); }).ok());
}

TEST(RankThreadsTest, AFailedSetUpIsTheErrorOfStart) {
  EXPECT_EQ(RankThreads::Start(2, [] { return absl::InternalError("no LibTorch"); }).status(),
            absl::InternalError("no LibTorch"));
}

}  // namespace
}  // namespace ringside
