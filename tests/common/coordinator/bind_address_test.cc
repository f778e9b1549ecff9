#include "common/network/bind_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/network/host_identity.h"
#include "common/network/interface_address.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

IpAddress Address(const std::string& text) {
  auto address = ParseIpAddress(text);
  EXPECT_TRUE(address.ok()) << address.status();
  return *address;
}

std::vector<InterfaceAddress> Interfaces() {
  return {{"lo", Address("127.0.0.1")},
          {"eth0", Address("fe80::1%eth0")},
          {"eth0", Address("10.0.0.5")},
          {"ib0", Address("10.128.0.5")},
          {"lo", Address("::1")},
          {"eth0", Address("fd00:1::5")},
          {"docker0", Address("172.17.0.1")}};
}

TEST(IpAddressTest, ParsesAndClassifies) {
  EXPECT_EQ(Address("10.0.0.5").family, AF_INET);
  EXPECT_EQ(Address("[fd00:0:0::1]").text, "fd00::1");
  EXPECT_EQ(Address("fe80::1%eth0").text, "fe80::1%eth0");
  EXPECT_TRUE(Address("0.0.0.0").is_any());
  EXPECT_TRUE(Address("::").is_any());
  EXPECT_FALSE(Address("::1").is_any());
  EXPECT_TRUE(Address("127.1.2.3").is_loopback());
  EXPECT_TRUE(Address("::1").is_loopback());
  EXPECT_FALSE(Address("1::1").is_loopback());
  EXPECT_TRUE(Address("169.254.1.1").is_link_local());
  EXPECT_TRUE(Address("fe80::1").is_link_local());
  EXPECT_FALSE(Address("fd00::1").is_link_local());
  for (const char* text :
       {"", "10.0.0", "10.0.0.256", "localhost", "::g", "fe80::1%", "1.2.3.4:5"}) {
    EXPECT_EQ(ParseIpAddress(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

struct SelectionCase {
  std::string selector;
  int family;
  std::string expected;
};

TEST(SelectByInterfaceTest, FindsByNameAndCidr) {
  const SelectionCase cases[] = {
      {"eth0", AF_INET, "10.0.0.5"},
      {"eth0", AF_INET6, "fd00:1::5"},  // not the link-local one
      {"ib0", AF_INET6, "10.128.0.5"},  // there is no other
      {"lo", AF_INET, "127.0.0.1"},
      {"lo", AF_INET6, "::1"},
      {"10.0.0.0/8", AF_INET, "10.0.0.5"},
      {"10.128.0.0/9", AF_INET, "10.128.0.5"},
      {"10.0.0.0/9", AF_INET, "10.0.0.5"},
      {"10.0.0.5/32", AF_INET, "10.0.0.5"},
      {"172.16.0.0/12", AF_INET, "172.17.0.1"},
      {"0.0.0.0/0", AF_INET, "127.0.0.1"},
      {"fd00::/8", AF_INET, "fd00:1::5"},
      {"fe80::/10", AF_INET, "fe80::1%eth0"},
      {"fd00:1::5/128", AF_INET6, "fd00:1::5"},
  };
  for (const SelectionCase& test : cases) {
    const auto address = SelectByInterface(Interfaces(), test.selector, test.family);
    ASSERT_TRUE(address.ok()) << test.selector << ": " << address.status();
    EXPECT_EQ(address->text, test.expected) << test.selector;
  }
}

TEST(SelectByInterfaceTest, ErrorsListTheCandidates) {
  const std::string all =
      "there are lo (127.0.0.1, ::1), eth0 (fe80::1%eth0, 10.0.0.5, fd00:1::5), "
      "ib0 (10.128.0.5), docker0 (172.17.0.1)";
  const auto message = [](const std::string& selector) {
    const auto address = SelectByInterface(Interfaces(), selector, AF_INET);
    EXPECT_EQ(address.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(address.status().message());
  };
  EXPECT_EQ(message("eth7"), "--interface=eth7: no interface eth7 is up with an address; " + all);
  EXPECT_EQ(message("192.168.0.0/16"),
            "--interface=192.168.0.0/16: no interface has an address in it; " + all);
  EXPECT_EQ(message("10.0.0.0/33"),
            "--interface=10.0.0.0/33: the length after the slash must be from 0 to 32");
  EXPECT_EQ(message("10.0.0.0/"),
            "--interface=10.0.0.0/: the length after the slash must be from 0 to 32");
  EXPECT_EQ(message("fd00::/129"),
            "--interface=fd00::/129: the length after the slash must be from 0 to 128");
  EXPECT_EQ(message("eth0/24"), "--interface=eth0/24: \"eth0\" is not an IP address");
}

TEST(IsLocalTest, AcceptsWhatCanBeBound) {
  for (const char* text :
       {"10.0.0.5", "127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "::", "fe80::1"}) {
    EXPECT_TRUE(IsLocal(Interfaces(), Address(text))) << text;
  }
  EXPECT_FALSE(IsLocal(Interfaces(), Address("10.0.0.6")));
  EXPECT_FALSE(IsLocal(Interfaces(), Address("fd00::6")));
}

TEST(ListInterfaceAddressesTest, FindsLoopback) {
  const auto addresses = ListInterfaceAddresses();
  ASSERT_TRUE(addresses.ok()) << addresses.status();
  const auto address = SelectByInterface(*addresses, "127.0.0.0/8", AF_INET);
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_EQ(address->text, "127.0.0.1");
}

NetworkOptions Options(std::string interface, std::string listen = "", std::string advertise = "",
                       std::string ports = "") {
  return {std::move(interface), std::move(listen), std::move(advertise), std::move(ports)};
}

TEST(ChooseBindAddressTest, FollowsTheRouteToTheCoordinator) {
  for (const char* host : {"127.0.0.1", "localhost", ""}) {
    const auto bind = ChooseBindAddress({}, Endpoint{host, 4000});
    ASSERT_TRUE(bind.ok()) << bind.status();
    EXPECT_TRUE(Address(bind->listen_host).is_loopback()) << host;
    EXPECT_EQ(bind->advertise_host, bind->listen_host);
    EXPECT_EQ(bind->ports.first, 0);
  }
}

TEST(ChooseBindAddressTest, WorksForACoordinatorWithoutAPort) {
  EXPECT_EQ(ChooseBindAddress({}, Endpoint{"127.0.0.1", 0})->listen_host, "127.0.0.1");
}

TEST(ChooseBindAddressTest, ListenOverridesInterface) {
  const auto bind =
      ChooseBindAddress(Options("eth777", "127.0.0.1", "", "4000-4003"), Endpoint{"127.0.0.1", 1});
  ASSERT_TRUE(bind.ok()) << bind.status();
  EXPECT_EQ(bind->listen_host, "127.0.0.1");
  EXPECT_EQ(bind->ports.first, 4000);
  EXPECT_EQ(bind->ports.last, 4003);
}

TEST(ChooseBindAddressTest, InterfaceChoosesTheAddress) {
  EXPECT_EQ(ChooseBindAddress(Options("lo"), Endpoint{"127.0.0.1", 1})->listen_host, "127.0.0.1");
  EXPECT_EQ(ChooseBindAddress(Options("127.0.0.0/8"), Endpoint{"localhost", 1})->listen_host,
            "127.0.0.1");
}

TEST(ChooseBindAddressTest, AnyAddressIsNotAdvertised) {
  const auto bind = ChooseBindAddress(Options("", "0.0.0.0"), Endpoint{"127.0.0.1", 4000});
  ASSERT_TRUE(bind.ok()) << bind.status();
  EXPECT_EQ(bind->listen_host, "0.0.0.0");
  EXPECT_EQ(bind->advertise_host, "127.0.0.1");
}

TEST(ChooseBindAddressTest, AdvertisesWhatTheUserSays) {
  const auto advertised = [](const std::string& advertise) {
    const auto bind = ChooseBindAddress(Options("", "0.0.0.0", advertise), Endpoint{"", 4000});
    EXPECT_TRUE(bind.ok()) << bind.status();
    return bind.ok() ? bind->advertise_host : "";
  };
  EXPECT_EQ(advertised("node7.example.org"), "node7.example.org");
  EXPECT_EQ(advertised("203.0.113.9"), "203.0.113.9");
  EXPECT_EQ(advertised("[fd00::1]"), "fd00::1");
}

struct ErrorCase {
  NetworkOptions options;
  Endpoint coordinator;
  absl::StatusCode code;
  std::string message;
};

TEST(ChooseBindAddressTest, NamesWhatIsWrong) {
  const Endpoint local = {"127.0.0.1", 4000};
  const ErrorCase cases[] = {
      {Options("eth777"), local, absl::StatusCode::kInvalidArgument, "no interface eth777"},
      {Options("eth777"), local, absl::StatusCode::kInvalidArgument, "lo (127.0.0.1"},
      {Options("", "203.0.113.77"), local, absl::StatusCode::kInvalidArgument,
       "--listen=203.0.113.77: not an address of this host; there are lo (127.0.0.1"},
      {Options("", "node7"), local, absl::StatusCode::kInvalidArgument,
       "--listen=node7: not an IP address"},
      {Options("", "", "node7:4000"), local, absl::StatusCode::kInvalidArgument,
       "--advertise=node7:4000: must be"},
      {Options("", "", "0.0.0.0"), local, absl::StatusCode::kInvalidArgument,
       "--advertise=0.0.0.0"},
      {Options("", "", "", "x"), local, absl::StatusCode::kInvalidArgument, "\"x\""},
      {Options(""),
       {"no-such-host.invalid", 1},
       absl::StatusCode::kUnavailable,
       "no-such-host.invalid"},
  };
  for (const ErrorCase& test : cases) {
    const auto bind = ChooseBindAddress(test.options, test.coordinator);
    EXPECT_EQ(bind.status().code(), test.code) << test.message << ": " << bind.status();
    EXPECT_THAT(std::string(bind.status().message()), HasSubstr(test.message));
  }
}

TEST(HostIdentityTest, ThisHostIsItself) {
  const HostIdentity identity = ReadHostIdentity();
  EXPECT_FALSE(identity.hostname().empty());
  EXPECT_EQ(identity.boot_id().size(), 36u);
  EXPECT_THAT(identity.network_namespace(), ::testing::StartsWith("net:["));
  EXPECT_TRUE(SameHost(identity, ReadHostIdentity()));
}

TEST(HostIdentityTest, ComparesBootAndNamespace) {
  HostIdentity a;
  EXPECT_FALSE(SameHost(a, a));  // nothing known
  a.set_boot_id("b");
  EXPECT_FALSE(SameHost(a, a));
  a.set_network_namespace("n");
  HostIdentity b = a;
  b.set_hostname("other name of the same host");
  EXPECT_TRUE(SameHost(a, b));
  b.set_network_namespace("m");
  EXPECT_FALSE(SameHost(a, b));
  b = a;
  b.set_boot_id("c");
  EXPECT_FALSE(SameHost(a, b));
}

}  // namespace
}  // namespace ringside
