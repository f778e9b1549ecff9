#include "common/network/socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "absl/time/clock.h"

namespace ringside {
namespace {

using testing::HasSubstr;

absl::Time Soon() { return absl::Now() + absl::Milliseconds(30); }
absl::Time Later() { return absl::Now() + absl::Seconds(30); }

struct Pair {
  std::unique_ptr<Socket> client;
  std::unique_ptr<Socket> server;
};

std::unique_ptr<ListeningSocket> Listen(const std::string& host = "127.0.0.1",
                                        PortRange ports = {}) {
  auto listener = ListeningSocket::Bind({host, host, ports});
  EXPECT_TRUE(listener.ok()) << listener.status();
  return *std::move(listener);
}

Pair Connected() {
  const auto listener = Listen();
  auto client = Socket::Connect({"127.0.0.1", listener->port()}, Later());
  EXPECT_TRUE(client.ok()) << client.status();
  auto server = listener->Accept(Later());
  EXPECT_TRUE(server.ok()) << server.status();
  return {*std::move(client), *std::move(server)};
}

bool HasIpv6Loopback() { return ListeningSocket::Bind({"::1", "::1", {}}).ok(); }

TEST(SocketTest, CarriesBytesBothWays) {
  const Pair pair = Connected();
  const std::vector<uint8_t> sent = {1, 2, 3, 4, 5};
  std::vector<uint8_t> received(5);
  ASSERT_TRUE(WriteFully(pair.client.get(), sent, Later()).ok());
  ASSERT_TRUE(ReadFully(pair.server.get(), absl::MakeSpan(received), Later()).ok());
  EXPECT_EQ(received, sent);
  ASSERT_TRUE(WriteFully(pair.server.get(), sent, Later()).ok());
  ASSERT_TRUE(ReadFully(pair.client.get(), absl::MakeSpan(received), Later()).ok());
}

TEST(SocketTest, GathersPieces) {
  const Pair pair = Connected();
  uint8_t a[] = {1, 2};
  uint8_t b[] = {3};
  const iovec pieces[] = {{a, 2}, {b, 1}};
  const auto written = pair.client->TryWrite(pieces);
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(written->bytes, 3u);
  std::vector<uint8_t> received(3);
  ASSERT_TRUE(ReadFully(pair.server.get(), absl::MakeSpan(received), Later()).ok());
  EXPECT_EQ(received, std::vector<uint8_t>({1, 2, 3}));
}

TEST(SocketTest, IsNonBlockingAndWithoutDelay) {
  const Pair pair = Connected();
  std::vector<uint8_t> buffer(1);
  const auto read = pair.server->TryRead(absl::MakeSpan(buffer));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->bytes, 0u);
  EXPECT_EQ(read->wait_for, POLLIN);
  for (const Socket* socket : {pair.client.get(), pair.server.get()}) {
    int on = 0;
    socklen_t length = sizeof(on);
    ASSERT_EQ(getsockopt(socket->fd(), IPPROTO_TCP, TCP_NODELAY, &on, &length), 0);
    EXPECT_NE(on, 0);
  }
}

TEST(SocketTest, ReadDeadlineSaysHowMuchHasCome) {
  const Pair pair = Connected();
  ASSERT_TRUE(WriteFully(pair.client.get(), std::vector<uint8_t>(3), Later()).ok());
  std::vector<uint8_t> buffer(5);
  const absl::Status status = ReadFully(pair.server.get(), absl::MakeSpan(buffer), Soon());
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("only 3 of 5 bytes read"));
}

TEST(SocketTest, WriteDeadlineWhenThePeerDoesNotRead) {
  const Pair pair = Connected();
  const absl::Status status = WriteFully(pair.client.get(), std::vector<uint8_t>(64 << 20), Soon());
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
}

TEST(SocketTest, EndOfStreamIsUnavailable) {
  Pair pair = Connected();
  ASSERT_TRUE(WriteFully(pair.client.get(), std::vector<uint8_t>(2), Later()).ok());
  pair.client.reset();
  std::vector<uint8_t> buffer(5);
  const absl::Status status = ReadFully(pair.server.get(), absl::MakeSpan(buffer), Later());
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("closed the connection after 2 of 5 bytes"));
}

// SIGPIPE would end this test.
TEST(SocketTest, WritingToAClosedPeerIsUnavailable) {
  Pair pair = Connected();
  pair.server.reset();
  const absl::Status status =
      WriteFully(pair.client.get(), std::vector<uint8_t>(64 << 20), Later());
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(absl::IsUnavailable(WriteFully(pair.client.get(), std::vector<uint8_t>(1), Later())));
}

TEST(SocketTest, ConnectWaitsForAListenerThatStartsLater) {
  const int port = Listen()->port();  // free again at once
  std::thread late;
  std::unique_ptr<ListeningSocket> listener;
  late = std::thread([&] {
    absl::SleepFor(absl::Milliseconds(20));  // so that the first attempts are refused
    listener = Listen("127.0.0.1", {port, port});
  });
  const auto client = Socket::Connect({"127.0.0.1", port}, Later());
  EXPECT_TRUE(client.ok()) << client.status();
  late.join();
}

TEST(SocketTest, ConnectGivesUpAtTheDeadlineAndSaysWhy) {
  const int port = Listen()->port();
  const auto client = Socket::Connect({"127.0.0.1", port}, Soon());
  EXPECT_TRUE(absl::IsUnavailable(client.status())) << client.status();
  EXPECT_THAT(client.status().ToString(), HasSubstr("127.0.0.1: Connection refused"));
}

TEST(SocketTest, ConnectSaysWhenANameIsUnknown) {
  const auto client = Socket::Connect({"no-such-host.invalid", 1}, absl::Now());
  EXPECT_TRUE(absl::IsUnavailable(client.status())) << client.status();
  EXPECT_THAT(client.status().ToString(), HasSubstr("cannot resolve"));
}

// localhost may be ::1 and 127.0.0.1; only one of them listens.
TEST(SocketTest, ConnectTriesEveryAddressOfAName) {
  const auto listener = Listen();
  const auto client = Socket::Connect({"localhost", listener->port()}, Later());
  EXPECT_TRUE(client.ok()) << client.status();
}

TEST(SocketTest, SpeaksIpv6) {
  if (!HasIpv6Loopback()) GTEST_SKIP() << "this host has no ::1";
  const auto listener = Listen("::1");
  const auto client = Socket::Connect({"::1", listener->port()}, Later());
  ASSERT_TRUE(client.ok()) << client.status();
  const auto server = listener->Accept(Later());
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(PeerText(**server), testing::StartsWith("[::1]:"));
  EXPECT_EQ(PeerText(**client), ToString(Endpoint{"::1", listener->port()}));
}

TEST(SocketTest, CongestionControlIsSetAndReadBack) {
  const Pair pair = Connected();
  ASSERT_TRUE(CheckCongestionControl("reno").ok());
  ASSERT_TRUE(pair.client->SetCongestionControl("reno").ok());
  const auto name = pair.client->CongestionControl();
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_EQ(*name, "reno");
  for (const char* bad : {"warp", "", "a-name-that-is-longer-than-the-kernel-allows"}) {
    const absl::Status status = pair.client->SetCongestionControl(bad);
    EXPECT_EQ(CheckCongestionControl(bad), status);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(status.ToString(), HasSubstr("available: "));
    EXPECT_THAT(status.ToString(), HasSubstr("reno"));
  }
}

TEST(ListeningSocketTest, TakesTheFirstFreePortOfARange) {
  const auto first = Listen();
  const int port = first->port();
  if (port + 20 > 65535) GTEST_SKIP() << "the kernel gave out port " << port;
  const auto second = Listen("127.0.0.1", {port, port + 20});
  EXPECT_GT(second->port(), port);
  EXPECT_LE(second->port(), port + 20);
}

TEST(ListeningSocketTest, NamesAddressAndRangeWhenAllAreTaken) {
  const auto first = Listen();
  const auto second = ListeningSocket::Bind({"127.0.0.1", "", {first->port(), first->port()}});
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(second.status().ToString(), HasSubstr("cannot listen on 127.0.0.1, port "));
  EXPECT_THAT(second.status().ToString(), HasSubstr("Address already in use"));
}

TEST(ListeningSocketTest, NamesAnAddressThatIsNotLocal) {
  const auto listener = ListeningSocket::Bind({"192.0.2.1", "", {}});  // TEST-NET-1
  EXPECT_TRUE(absl::IsUnavailable(listener.status())) << listener.status();
  EXPECT_THAT(listener.status().ToString(), HasSubstr("192.0.2.1, any port"));
}

TEST(ListeningSocketTest, AcceptHasADeadline) {
  const auto listener = Listen();
  EXPECT_TRUE(absl::IsDeadlineExceeded(listener->Accept(Soon()).status()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(listener->Accept(absl::InfinitePast()).status()));
}

TEST(FileDescriptorTest, MovesAndClosesOnce) {
  FileDescriptor a(dup(0));
  ASSERT_TRUE(a.valid());
  const int number = a.get();
  FileDescriptor b(std::move(a));
  EXPECT_EQ(b.get(), number);
  a = std::move(b);
  EXPECT_EQ(a.get(), number);
  a.Close();
  EXPECT_FALSE(a.valid());
}

}  // namespace
}  // namespace ringside
