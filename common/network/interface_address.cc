#include "common/network/interface_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

IpAddress MakeAddress(int family, const void* bytes) {
  IpAddress address;
  address.family = family;
  const auto* first = static_cast<const uint8_t*>(bytes);
  address.bytes.assign(first, first + (family == AF_INET ? 4 : 16));
  char text[INET6_ADDRSTRLEN] = {};
  if (inet_ntop(family, bytes, text, sizeof(text)) != nullptr) address.text = text;
  return address;
}

struct Cidr {
  IpAddress address;
  int prefix_bits = 0;
};

absl::StatusOr<Cidr> ParseCidr(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> halves =
      absl::StrSplit(text, absl::MaxSplits('/', 1));
  Cidr cidr;
  const auto address = ParseIpAddress(halves.first);
  if (!address.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--interface=", text, ": \"", halves.first, "\" is not an IP address"));
  }
  cidr.address = *address;
  const int most = cidr.address.family == AF_INET ? 32 : 128;
  if (!absl::SimpleAtoi(halves.second, &cidr.prefix_bits) || cidr.prefix_bits < 0 ||
      cidr.prefix_bits > most) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--interface=", text, ": the length after the slash must be from 0 to ", most));
  }
  return cidr;
}

bool Contains(const Cidr& cidr, const IpAddress& address) {
  if (address.family != cidr.address.family) return false;
  for (int bit = 0; bit < cidr.prefix_bits; ++bit) {
    const int mask = 0x80 >> (bit % 8);
    if ((address.bytes[bit / 8] & mask) != (cidr.address.bytes[bit / 8] & mask)) return false;
  }
  return true;
}

// Lower is better.
int Undesirability(const IpAddress& address, int preferred_family) {
  return (address.is_link_local() ? 2 : 0) + (address.family == preferred_family ? 0 : 1);
}

}  // namespace

bool IpAddress::is_any() const {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

bool IpAddress::is_loopback() const {
  if (family == AF_INET) return bytes[0] == 127;
  return bytes.back() == 1 &&
         std::all_of(bytes.begin(), bytes.end() - 1, [](uint8_t byte) { return byte == 0; });
}

bool IpAddress::is_link_local() const {
  if (family == AF_INET) return bytes[0] == 169 && bytes[1] == 254;
  return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

absl::StatusOr<IpAddress> ParseIpAddress(absl::string_view text) {
  std::string address(text);
  if (absl::StartsWith(address, "[") && absl::EndsWith(address, "]")) {
    address = address.substr(1, address.size() - 2);
  }
  const size_t percent = address.find('%');
  const std::string zone = percent == std::string::npos ? "" : address.substr(percent);
  in_addr v4;
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return MakeAddress(AF_INET, &v4);
  in6_addr v6;
  if (inet_pton(AF_INET6, address.substr(0, percent).c_str(), &v6) == 1 && zone != "%") {
    IpAddress parsed = MakeAddress(AF_INET6, &v6);
    parsed.text += zone;
    return parsed;
  }
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not an IP address"));
}

absl::StatusOr<std::vector<InterfaceAddress>> ListInterfaceAddresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return absl::InternalError(absl::StrCat("getifaddrs: ", strerror(errno)));
  }
  std::vector<InterfaceAddress> addresses;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
    const int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const void* bytes = family == AF_INET
                            ? static_cast<const void*>(
                                  &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr)
                            : &reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
    IpAddress address = MakeAddress(family, bytes);
    if (family == AF_INET6 && address.is_link_local()) {
      absl::StrAppend(&address.text, "%", entry->ifa_name);
    }
    addresses.push_back({entry->ifa_name, std::move(address)});
  }
  freeifaddrs(list);
  return addresses;
}

std::string Describe(const std::vector<InterfaceAddress>& addresses) {
  std::vector<std::string> names;  // in order of appearance
  std::map<std::string, std::vector<std::string>> texts;
  for (const InterfaceAddress& entry : addresses) {
    if (texts[entry.interface].empty()) names.push_back(entry.interface);
    texts[entry.interface].push_back(entry.address.text);
  }
  return absl::StrJoin(names, ", ", [&texts](std::string* out, const std::string& name) {
    absl::StrAppend(out, name, " (", absl::StrJoin(texts[name], ", "), ")");
  });
}

absl::StatusOr<IpAddress> SelectByInterface(const std::vector<InterfaceAddress>& addresses,
                                            absl::string_view selector, int preferred_family) {
  const bool by_range = absl::StrContains(selector, '/');
  Cidr cidr;
  if (by_range) {
    RINGSIDE_ASSIGN_OR_RETURN(cidr, ParseCidr(selector));
  }
  const IpAddress* best = nullptr;
  for (const auto& [interface, address] : addresses) {
    if (by_range ? !Contains(cidr, address) : interface != selector) continue;
    if (best == nullptr ||
        Undesirability(address, preferred_family) < Undesirability(*best, preferred_family)) {
      best = &address;
    }
  }
  if (best != nullptr) return *best;
  return absl::InvalidArgumentError(
      by_range ? absl::StrCat("--interface=", selector, ": no interface has an address in it; ",
                              "there are ", Describe(addresses))
               : absl::StrCat("--interface=", selector, ": no interface ", selector,
                              " is up with an address; there are ", Describe(addresses)));
}

bool IsLocal(const std::vector<InterfaceAddress>& addresses, const IpAddress& address) {
  if (address.is_any() || address.is_loopback()) return true;
  return std::any_of(addresses.begin(), addresses.end(), [&address](const InterfaceAddress& entry) {
    return entry.address.family == address.family && entry.address.bytes == address.bytes;
  });
}

}  // namespace ringside
