#include "common/network/endpoint.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

constexpr int kMaxPort = 65535;

absl::Status BadEndpoint(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("bad address \"", text, "\": ", what,
                   "; write host:port, with brackets around an IPv6 address ([::1]:4000)"));
}

// Digits alone: SimpleAtoi would let signs and blanks pass.
bool ParsePort(absl::string_view text, int* port) {
  if (text.empty() || text.size() > 5) return false;
  for (char c : text) {
    if (!absl::ascii_isdigit(c)) return false;
  }
  return absl::SimpleAtoi(text, port) && *port <= kMaxPort;
}

absl::Status BadPortRange(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "bad port range \"", text, "\": ", what,
      "; allowed: 0 (any), a port (4000) or first-last (4000-4099), ports up to ", kMaxPort));
}

}  // namespace

absl::StatusOr<Endpoint> ParseEndpoint(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return BadEndpoint(text, "no port");
  absl::string_view host = text.substr(0, colon);
  if (!host.empty() && host.front() == '[') {
    if (host.back() != ']') return BadEndpoint(text, "no port after the bracketed address");
    host = host.substr(1, host.size() - 2);
    in6_addr address;
    const absl::string_view unscoped = host.substr(0, host.find('%'));
    if (inet_pton(AF_INET6, std::string(unscoped).c_str(), &address) != 1) {
      return BadEndpoint(text, "no IPv6 address within the brackets");
    }
  } else if (host.find(':') != absl::string_view::npos) {
    return BadEndpoint(text, "more than one colon");
  }
  if (host.empty()) return BadEndpoint(text, "no host");
  for (char c : host) {
    if (absl::ascii_isspace(c) || c == '[' || c == ']' || c == '/') {
      return BadEndpoint(text, "the host has a character that no name or address has");
    }
  }
  Endpoint endpoint;
  endpoint.host = std::string(host);
  if (!ParsePort(text.substr(colon + 1), &endpoint.port)) {
    return BadEndpoint(text, absl::StrCat("the port is not a number from 0 to ", kMaxPort));
  }
  return endpoint;
}

std::string ToString(const Endpoint& endpoint) {
  if (endpoint.host.find(':') != std::string::npos) {
    return absl::StrCat("[", endpoint.host, "]:", endpoint.port);
  }
  return absl::StrCat(endpoint.host, ":", endpoint.port);
}

absl::StatusOr<std::vector<SocketAddress>> Resolve(const Endpoint& endpoint) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error =
      getaddrinfo(endpoint.host.c_str(), absl::StrCat(endpoint.port).c_str(), &hints, &list);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot resolve \"", endpoint.host,
                     "\": ", error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error)));
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    SocketAddress address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.length = entry->ai_addrlen;
    addresses.push_back(address);
  }
  freeaddrinfo(list);
  if (addresses.empty()) {
    return absl::UnavailableError(
        absl::StrCat("\"", endpoint.host, "\" has no IPv4 or IPv6 address"));
  }
  return addresses;
}

std::string AddressText(const SocketAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const void* bytes = nullptr;
  if (address.family() == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr;
  } else if (address.family() == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr;
  } else {
    return absl::StrCat("address of family ", address.family());
  }
  inet_ntop(address.family(), bytes, text, sizeof(text));
  return text;
}

absl::StatusOr<PortRange> ParsePortRange(absl::string_view text) {
  if (text.empty() || text == "0") return PortRange{};
  const size_t dash = text.find('-');
  PortRange range;
  if (!ParsePort(text.substr(0, dash), &range.first) || range.first == 0) {
    return BadPortRange(text, "the first port is not a number from 1");
  }
  range.last = range.first;
  if (dash != absl::string_view::npos && !ParsePort(text.substr(dash + 1), &range.last)) {
    return BadPortRange(text, "the last port is not a number");
  }
  if (range.last < range.first) return BadPortRange(text, "the last port is below the first");
  return range;
}

}  // namespace ringside
