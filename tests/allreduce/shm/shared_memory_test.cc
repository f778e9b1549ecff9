// Meetings and events between processes: here between threads.
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>

#include "absl/time/clock.h"
#include "allreduce/shm/shared_event.h"
#include "allreduce/shm/shared_meeting.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {
namespace {

TEST(SharedMeetingTest, NobodyLeavesBeforeAllHaveCome) {
  constexpr int kMembers = 4;
  constexpr int kMeetings = 500;
  auto arena = *Arena::Create(1024, Arena::Placement::kShared);
  auto* const meeting = new (arena->span().data()) SharedMeeting;
  std::atomic<int> come{0};
  RunRanks(kMembers, [&](int) {
    for (int i = 1; i <= kMeetings; ++i) {
      const uint32_t ended = meeting->ended();
      come.fetch_add(1);
      if (!meeting->Come(kMembers)) {
        while (meeting->ended() == ended) meeting->Sleep(ended, absl::Milliseconds(10));
      }
      EXPECT_GE(come.load(), i * kMembers);
    }
    return absl::OkStatus();
  });
  EXPECT_EQ(meeting->ended(), static_cast<uint32_t>(kMeetings));
}

TEST(SharedEventTest, AWakeForTheReasonEndsASleepAndNoOtherDoes) {
  auto arena = *Arena::Create(1024, Arena::Placement::kShared);
  auto* const event = new (arena->span().data()) SharedEvent;
  EXPECT_EQ(event->Wake(1), 0u);  // nobody waits
  std::atomic<bool> changed{false};
  std::thread waiter([&] {
    while (!changed.load()) {
      event->Arm(2);
      if (!changed.load()) event->Sleep(absl::Seconds(30));
      event->Disarm();
    }
  });
  EXPECT_EQ(event->Wake(1), 0u);
  changed.store(true);
  event->Wake(2);
  const absl::Time start = absl::Now();
  waiter.join();
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
  event->Arm(2 | SharedEvent::kBySocket);
  EXPECT_EQ(event->Wake(2), 2 | SharedEvent::kBySocket);  // the waker must use the socket
}

}  // namespace
}  // namespace ringside
