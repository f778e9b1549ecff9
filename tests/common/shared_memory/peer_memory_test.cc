// Memory of other processes: here of the same one, mapped at another address.
#include "common/shared_memory/peer_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "absl/time/clock.h"
#include "common/shared_memory/own_memory.h"

namespace ringside {
namespace {

using testing::HasSubstr;

absl::Time Later() { return absl::Now() + absl::Seconds(30); }

struct Pair {
  Pair() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    first = std::make_unique<Socket>(FileDescriptor(ends[0]));
    second = std::make_unique<Socket>(FileDescriptor(ends[1]));
  }
  std::unique_ptr<Socket> first;
  std::unique_ptr<Socket> second;
};

TEST(PeerMemoryTest, BothSidesSeeEachOthersMemory) {
  Pair pair;
  auto arena = *Arena::Create(1000, Arena::Placement::kShared);
  const auto heap = *Arena::Create(1000, Arena::Placement::kHeap);
  std::unique_ptr<OwnMemory> own[2];
  own[0] = *OwnMemory::Create(100, 4096, {arena.get(), heap.get()});
  own[1] = *OwnMemory::Create(100, 4096, {});
  MemoryExchange exchanges[] = {MemoryExchange(pair.first.get()),
                                MemoryExchange(pair.second.get())};
  for (int i : {0, 1}) ASSERT_TRUE(exchanges[i].Offer(own[i]->Descriptors(), Later()).ok());
  for (int i : {0, 1}) ASSERT_TRUE(exchanges[i].Take(Later()).ok());
  for (int i : {0, 1}) ASSERT_TRUE(exchanges[i].Settle(Later()).ok());
  const auto of_first = exchanges[1].memory();
  ASSERT_NE(of_first, nullptr) << exchanges[1].why();
  EXPECT_EQ(of_first->num_segments(), 2);  // its control segment and the arena; not the heap

  arena->span()[10] = 5;
  const auto bytes = absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(&arena->span()[10]), 4);
  const auto location = own[0]->Locate(bytes);
  ASSERT_TRUE(location.has_value());
  const uint8_t* const seen = of_first->Find(location->segment, location->offset, 4);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(*reinterpret_cast<const float*>(seen), 5);
  EXPECT_FALSE(own[0]->Locate({reinterpret_cast<const uint8_t*>(heap->span().data()), 4}));
}

TEST(PeerMemoryTest, WhatLiesOutsideIsNotFound) {
  auto arena = *Arena::Create(1000, Arena::Placement::kShared);
  std::vector<FileDescriptor> files;
  files.emplace_back(dup(arena->memory_fd()));
  const auto memory = *PeerMemory::Map(files);
  const uint64_t bytes = memory->segment(0).size();
  EXPECT_NE(memory->Find(0, 0, bytes), nullptr);
  EXPECT_EQ(memory->Find(0, 1, bytes), nullptr);
  EXPECT_EQ(memory->Find(0, ~uint64_t{0}, 2), nullptr);
  EXPECT_EQ(memory->Find(0, 4, ~uint64_t{0}), nullptr);
  EXPECT_EQ(memory->Find(1, 0, 1), nullptr);
}

// A file that its owner could cut off under the reader is not mapped, and both sides learn it.
TEST(PeerMemoryTest, MemoryThatMayShrinkIsRefusedAndBothAreTold) {
  Pair pair;
  const FileDescriptor unsealed(memfd_create("unsealed", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(unsealed.get(), 4096), 0);
  const auto good = *OwnMemory::Create(100, 4096, {});
  MemoryExchange first(pair.first.get());
  MemoryExchange second(pair.second.get());
  ASSERT_TRUE(first.Offer({unsealed.get()}, Later()).ok());
  ASSERT_TRUE(second.Offer(good->Descriptors(), Later()).ok());
  ASSERT_TRUE(first.Take(Later()).ok());
  ASSERT_TRUE(second.Take(Later()).ok());
  ASSERT_TRUE(first.Settle(Later()).ok());
  ASSERT_TRUE(second.Settle(Later()).ok());
  EXPECT_EQ(first.memory(), nullptr);
  EXPECT_EQ(second.memory(), nullptr);
  EXPECT_THAT(second.why(), HasSubstr("not of a size that lasts"));
  EXPECT_THAT(first.why(), HasSubstr("cannot map the memory of this process"));
}

TEST(PeerMemoryTest, APeerThatGoesIsAnError) {
  Pair pair;
  MemoryExchange exchange(pair.first.get());
  pair.second.reset();
  EXPECT_TRUE(absl::IsUnavailable(exchange.Take(Later())));
}

// What one shared arena holds, read by a peer that cannot write.
TEST(PeerMemoryTest, ReadersGetAMappingThatTheyCannotWrite) {
  auto arena = *Arena::Create(10, Arena::Placement::kShared);
  arena->span()[3] = 7;
  std::vector<FileDescriptor> files;
  files.emplace_back(dup(arena->memory_fd()));
  const auto memory = *PeerMemory::Map(files, PeerMemory::Access::kRead);
  uint8_t* const bytes = memory->Find(0, 3 * sizeof(float), sizeof(float));
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(*reinterpret_cast<const float*>(bytes), 7);
  EXPECT_DEATH(bytes[0] = 1, "");
}

}  // namespace
}  // namespace ringside
