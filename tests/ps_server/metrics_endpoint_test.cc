#include "ps_server/metrics_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/network/socket.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// What the endpoint answers to one request, up to the end of the connection.
std::string Fetch(int port, const std::string& path) {
  auto socket = Socket::Connect({"127.0.0.1", port}, absl::Now() + absl::Seconds(30));
  if (!socket.ok()) return std::string(socket.status().message());
  const std::string request = absl::StrCat("GET ", path, " HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
  iovec piece = {const_cast<char*>(request.data()), request.size()};
  const auto written = (*socket)->TryWrite({&piece, 1});
  if (!written.ok() || written->bytes != request.size()) return "the request was not taken";
  std::string answer;
  while (true) {
    pollfd waiting = {(*socket)->fd(), POLLIN, 0};
    if (poll(&waiting, 1, 30000) != 1) return absl::StrCat(answer, "(no end)");
    uint8_t buffer[4096];
    const auto read = (*socket)->TryRead(absl::MakeSpan(buffer));
    if (!read.ok()) return answer;
    answer.append(reinterpret_cast<char*>(buffer), read->bytes);
  }
}

std::unique_ptr<MetricsEndpoint> AnyPort() {
  auto endpoint = MetricsEndpoint::Create("127.0.0.1", 0);
  EXPECT_TRUE(endpoint.ok()) << endpoint.status();
  return endpoint.ok() ? std::move(endpoint).value() : nullptr;
}

TEST(MetricsEndpointTest, ServesWhatTheSnapshotHolds) {
  const auto endpoint = AnyPort();
  ASSERT_NE(endpoint, nullptr);
  EXPECT_GT(endpoint->port(), 0);
  std::atomic<int> frames{0};
  endpoint->Serve([&frames] {
    ShardMetrics metrics;
    metrics.shard = 1;
    metrics.account.frames = ++frames;
    return metrics;
  });
  const std::string first = Fetch(endpoint->port(), "/metrics");
  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(first, HasSubstr("Content-Type: text/plain"));
  EXPECT_THAT(first, HasSubstr("\nringside_ps_frames_total{shard=\"1\"} 1\n"));
  EXPECT_THAT(Fetch(endpoint->port(), "/metrics"),
              HasSubstr("\nringside_ps_frames_total{shard=\"1\"} 2\n"));
}

TEST(MetricsEndpointTest, HasNothingElseAndNothingBeforeItServes) {
  const auto endpoint = AnyPort();
  ASSERT_NE(endpoint, nullptr);
  EXPECT_THAT(Fetch(endpoint->port(), "/metrics"), StartsWith("HTTP/1.0 404 "));
  endpoint->Serve([] { return ShardMetrics(); });
  EXPECT_THAT(Fetch(endpoint->port(), "/metrics"), StartsWith("HTTP/1.1 200 "));
  for (const char* path : {"/", "/etc/passwd", "/../CMakeCache.txt"})
    EXPECT_THAT(Fetch(endpoint->port(), path), StartsWith("HTTP/1.0 404 ")) << path;
}

TEST(MetricsEndpointTest, NamesAPortThatIsTaken) {
  const auto endpoint = AnyPort();
  ASSERT_NE(endpoint, nullptr);
  const auto second = MetricsEndpoint::Create("127.0.0.1", endpoint->port());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(absl::StrCat("--metrics_port=", endpoint->port(),
                                     ": cannot listen on 127.0.0.1:", endpoint->port())));
}

TEST(MetricsEndpointTest, EndsAlthoughAClientSaysNothing) {
  auto endpoint = AnyPort();
  ASSERT_NE(endpoint, nullptr);
  endpoint->Serve([] { return ShardMetrics(); });
  const auto silent =
      Socket::Connect({"127.0.0.1", endpoint->port()}, absl::Now() + absl::Seconds(30));
  ASSERT_TRUE(silent.ok()) << silent.status();
  const absl::Time begin = absl::Now();
  endpoint.reset();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(20));  // and not after the idle time of a client
}

}  // namespace
}  // namespace ringside
