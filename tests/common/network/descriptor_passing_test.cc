#include "common/network/descriptor_passing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "absl/time/clock.h"

namespace ringside {
namespace {

using testing::HasSubstr;

absl::Time Later() { return absl::Now() + absl::Seconds(30); }

struct Pair {
  std::unique_ptr<Socket> client;
  std::unique_ptr<Socket> server;
};

Pair Connected() {
  auto listener = *ListeningSocket::BindLocal();
  EXPECT_EQ(listener->port(), 0);
  Pair pair;
  pair.client = *Socket::ConnectLocal(listener->name());
  pair.server = *listener->Accept(Later());
  return pair;
}

TEST(DescriptorPassingTest, AFileArrivesWithItsContents) {
  const Pair pair = Connected();
  EXPECT_TRUE(pair.server->is_local());
  EXPECT_EQ(PeerText(*pair.server), absl::StrCat("process ", getpid()));
  const FileDescriptor first(memfd_create("first", MFD_CLOEXEC));
  const FileDescriptor second(memfd_create("second", MFD_CLOEXEC));
  ASSERT_EQ(write(second.get(), "hello", 5), 5);
  ASSERT_TRUE(SendDescriptors(pair.client.get(), {first.get(), second.get()}, Later()).ok());
  const auto received = ReceiveDescriptors(pair.server.get(), Later());
  ASSERT_TRUE(received.ok()) << received.status();
  ASSERT_EQ(received->size(), 2);
  char text[6] = "";
  EXPECT_EQ(pread((*received)[1].get(), text, 5, 0), 5);
  EXPECT_STREQ(text, "hello");
}

TEST(DescriptorPassingTest, WhatIsNoFileIsRefused) {
  const Pair pair = Connected();
  const uint8_t byte = 1;
  ASSERT_TRUE(WriteFully(pair.client.get(), absl::MakeConstSpan(&byte, 1), Later()).ok());
  const auto received = ReceiveDescriptors(pair.server.get(), Later());
  EXPECT_TRUE(absl::IsInvalidArgument(received.status())) << received.status();
  EXPECT_THAT(received.status().ToString(), HasSubstr("announces 1 open files and passes 0"));
}

TEST(DescriptorPassingTest, APeerThatGoesOrIsSilentIsAnError) {
  Pair pair = Connected();
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      ReceiveDescriptors(pair.server.get(), absl::Now() + absl::Milliseconds(20)).status()));
  pair.client.reset();
  EXPECT_TRUE(absl::IsUnavailable(ReceiveDescriptors(pair.server.get(), Later()).status()));
}

TEST(DescriptorPassingTest, NumberAndKindOfSocketAreChecked) {
  const Pair pair = Connected();
  EXPECT_TRUE(absl::IsInvalidArgument(SendDescriptors(pair.client.get(), {}, Later())));
  const std::vector<int> many(kMaxPassedDescriptors + 1, 0);
  EXPECT_TRUE(absl::IsInvalidArgument(SendDescriptors(pair.client.get(), many, Later())));
  auto listener = *ListeningSocket::Bind({"127.0.0.1", "127.0.0.1", {}});
  const auto tcp = *Socket::Connect({"127.0.0.1", listener->port()}, Later());
  EXPECT_TRUE(absl::IsInvalidArgument(SendDescriptors(tcp.get(), {0}, Later())));
}

TEST(LocalSocketTest, ANameThatNobodyHasIsUnavailable) {
  const auto socket = Socket::ConnectLocal("ringside-nobody");
  EXPECT_TRUE(absl::IsUnavailable(socket.status())) << socket.status();
  EXPECT_THAT(socket.status().ToString(), HasSubstr("@ringside-nobody"));
  EXPECT_TRUE(absl::IsUnavailable(Socket::ConnectLocal("").status()));
  EXPECT_TRUE(absl::IsUnavailable(Socket::ConnectLocal(std::string(500, 'x')).status()));
}

}  // namespace
}  // namespace ringside
