#include "common/network/grpc_server.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/async_generic_service.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/network/interface_address.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<GrpcServer> StartAt(const std::string& host, int first, int last) {
  BindAddress bind;
  bind.listen_host = host;
  bind.advertise_host = host;
  bind.ports = {first, last};
  // A server needs something to serve to have a queue; the generic service will do.
  static auto* services = new std::vector<std::unique_ptr<grpc::CallbackGenericService>>;
  return StartGrpcServer(bind, [](grpc::ServerBuilder* builder) {
    services->push_back(std::make_unique<grpc::CallbackGenericService>());
    builder->RegisterCallbackGenericService(services->back().get());
  });
}

bool CanConnect(const Endpoint& endpoint) {
  return CreateGrpcChannel(endpoint)->WaitForConnected(
      absl::ToChronoTime(absl::Now() + absl::Seconds(5)));
}

TEST(GrpcServerTest, BindsAnyPortAndSaysWhich) {
  const auto server = StartAt("127.0.0.1", 0, 0);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(server->endpoint.host, "127.0.0.1");
  EXPECT_GT(server->endpoint.port, 0);
  EXPECT_TRUE(CanConnect(server->endpoint));
}

TEST(GrpcServerTest, ListensUnderAnAbstractNameTooAndTakesEverySetting) {
  GrpcServerOptions options;
  options.local = true;
  options.tuning = {1 << 20, 8 << 20, 1 << 20, 1 << 20, false, true};
  grpc::CallbackGenericService service;
  const auto server = StartGrpcServer(
      {"127.0.0.1", "127.0.0.1", {}},
      [&](grpc::ServerBuilder* builder) { builder->RegisterCallbackGenericService(&service); },
      options);
  ASSERT_TRUE(server.ok()) << server.status();
  ASSERT_NE(server->local, "");
  for (const std::string& target : {ToString(server->endpoint), LocalGrpcTarget(server->local)}) {
    EXPECT_TRUE(CreateGrpcChannel(target, options.tuning)
                    ->WaitForConnected(absl::ToChronoTime(absl::Now() + absl::Seconds(5))))
        << target;
  }
}

TEST(GrpcServerTest, ServesIpv6) {
  const auto addresses = ListInterfaceAddresses();
  ASSERT_TRUE(addresses.ok());
  if (!SelectByInterface(*addresses, "::1/128", AF_INET6).ok()) {
    GTEST_SKIP() << "this host has no IPv6 loopback";
  }
  const auto server = StartAt("::1", 0, 0);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(ToString(server->endpoint), absl::StrCat("[::1]:", server->endpoint.port));
  EXPECT_TRUE(CanConnect(server->endpoint));
}

TEST(GrpcServerTest, APortThatIsTakenIsAnErrorThatNamesIt) {
  const auto first = StartAt("127.0.0.1", 0, 0);
  ASSERT_TRUE(first.ok()) << first.status();
  const int port = first->endpoint.port;
  testing::internal::CaptureStderr();
  const auto second = StartAt("127.0.0.1", port, port);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(std::string(second.status().message()),
            absl::StrCat("cannot listen on 127.0.0.1, port ", port, ": Address already in use"));
}

TEST(GrpcServerTest, TriesEveryPortOfTheRange) {
  // A neighbour of a port that was free is usually free; look for such a pair.
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto first = StartAt("127.0.0.1", 0, 0);
    ASSERT_TRUE(first.ok()) << first.status();
    const int port = first->endpoint.port;
    const auto second = StartAt("127.0.0.1", port, port + 1);
    if (!second.ok()) continue;
    EXPECT_EQ(second->endpoint.port, port + 1);
    const auto third = StartAt("127.0.0.1", port, port + 1);
    EXPECT_EQ(third.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(third.status().message()),
                HasSubstr(absl::StrCat("any of the ports ", port, "-", port + 1)));
    return;
  }
  FAIL() << "no two neighbouring ports are free";
}

TEST(GrpcServerTest, AnAddressOfAnotherHostIsAnError) {
  const auto server = StartAt("203.0.113.77", 0, 0);
  EXPECT_EQ(server.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(
      std::string(server.status().message()),
      HasSubstr("cannot listen on 203.0.113.77, any port: Cannot assign requested address"));
}

}  // namespace
}  // namespace ringside
