#include "common/network/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ringside {
namespace {

using testing::HasSubstr;

TEST(EndpointTest, ParsesNamesAndAddresses) {
  struct Case {
    const char* text;
    const char* host;
    int port;
  };
  for (const Case& c :
       {Case{"node7:4000", "node7", 4000}, Case{"10.0.0.1:1", "10.0.0.1", 1},
        Case{"[::1]:65535", "::1", 65535}, Case{"[fe80::1%eth0]:80", "fe80::1%eth0", 80},
        Case{"localhost:0", "localhost", 0}}) {
    const auto endpoint = ParseEndpoint(c.text);
    ASSERT_TRUE(endpoint.ok()) << endpoint.status();
    EXPECT_EQ(endpoint->host, c.host);
    EXPECT_EQ(endpoint->port, c.port);
    EXPECT_EQ(ToString(*endpoint), c.text);
  }
}

TEST(EndpointTest, RefusesAnythingElseByName) {
  for (const char* text : {"",         ":",           "node7",        "node7:",
                           ":4000",    "node7:65536", "node7:-1",     "node7:+1",
                           "node7: 1", "node7:4x",    "node7:000001", "::1:4000",
                           "::1",      "[::1]",       "[::1]4000",    "[]:1",
                           "[x]:1",    "[::1:4000",   "no de:1",      "http://node7:1",
                           "a:1:2"}) {
    const auto endpoint = ParseEndpoint(text);
    EXPECT_TRUE(absl::IsInvalidArgument(endpoint.status())) << text;
    EXPECT_THAT(endpoint.status().ToString(), HasSubstr(std::string("\"") + text + "\""));
  }
}

TEST(EndpointTest, ResolvesAddressesWithoutAsking) {
  const auto v4 = Resolve({"127.0.0.1", 4000});
  ASSERT_TRUE(v4.ok()) << v4.status();
  ASSERT_EQ(v4->size(), 1u);
  EXPECT_EQ((*v4)[0].family(), AF_INET);
  EXPECT_EQ(AddressText((*v4)[0]), "127.0.0.1");
  EXPECT_EQ(ntohs(reinterpret_cast<const sockaddr_in*>(&(*v4)[0].storage)->sin_port), 4000);
  const auto v6 = Resolve({"::1", 4000});
  ASSERT_TRUE(v6.ok()) << v6.status();
  EXPECT_EQ((*v6)[0].family(), AF_INET6);
  EXPECT_EQ(AddressText((*v6)[0]), "::1");
}

TEST(EndpointTest, ResolvesLocalhost) {
  const auto addresses = Resolve({"localhost", 1});
  ASSERT_TRUE(addresses.ok()) << addresses.status();
  EXPECT_TRUE(std::any_of(addresses->begin(), addresses->end(), [](const SocketAddress& address) {
    return AddressText(address) == "127.0.0.1" || AddressText(address) == "::1";
  }));
}

TEST(EndpointTest, UnknownNameIsUnavailable) {
  const auto addresses = Resolve({"no-such-host.invalid", 1});
  EXPECT_TRUE(absl::IsUnavailable(addresses.status())) << addresses.status();
  EXPECT_THAT(addresses.status().ToString(), HasSubstr("no-such-host.invalid"));
}

TEST(PortRangeTest, ParsesRanges) {
  struct Case {
    const char* text;
    int first;
    int last;
  };
  for (const Case& c : {Case{"", 0, 0}, Case{"0", 0, 0}, Case{"4000", 4000, 4000},
                        Case{"4000-4099", 4000, 4099}, Case{"65535-65535", 65535, 65535}}) {
    const auto range = ParsePortRange(c.text);
    ASSERT_TRUE(range.ok()) << range.status();
    EXPECT_EQ(range->first, c.first) << c.text;
    EXPECT_EQ(range->last, c.last) << c.text;
  }
}

TEST(PortRangeTest, RefusesAnythingElseByName) {
  for (const char* text :
       {"-", "0-5", "5-", "-5", "5-4", "65536", "1-65536", "a", "1-b", "1 - 2", "1-2-3", "+1"}) {
    const auto range = ParsePortRange(text);
    EXPECT_TRUE(absl::IsInvalidArgument(range.status())) << text;
    EXPECT_THAT(range.status().ToString(), HasSubstr(std::string("\"") + text + "\""));
  }
}

}  // namespace
}  // namespace ringside
