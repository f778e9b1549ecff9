#include "ps_server/metrics_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/network/socket.h"
#include "tests/testing/http_get.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

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
  const std::string first = HttpGet(endpoint->port(), "/metrics");
  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(first, HasSubstr("Content-Type: text/plain"));
  EXPECT_THAT(first, HasSubstr("\nringside_ps_frames_total{shard=\"1\"} 1\n"));
  EXPECT_THAT(HttpGet(endpoint->port(), "/metrics"),
              HasSubstr("\nringside_ps_frames_total{shard=\"1\"} 2\n"));
}

TEST(MetricsEndpointTest, HasNothingElseAndNothingBeforeItServes) {
  const auto endpoint = AnyPort();
  ASSERT_NE(endpoint, nullptr);
  EXPECT_THAT(HttpGet(endpoint->port(), "/metrics"), StartsWith("HTTP/1.0 404 "));
  endpoint->Serve([] { return ShardMetrics(); });
  EXPECT_THAT(HttpGet(endpoint->port(), "/metrics"), StartsWith("HTTP/1.1 200 "));
  for (const char* path : {"/", "/etc/passwd", "/../CMakeCache.txt"})
    EXPECT_THAT(HttpGet(endpoint->port(), path), StartsWith("HTTP/1.0 404 ")) << path;
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
