// host:port, with IPv6 addresses in brackets: "node7:4000", "10.0.0.1:4000", "[::1]:4000". Pure,
// but for Resolve.
#ifndef RINGSIDE_COMMON_NETWORK_ENDPOINT_H_
#define RINGSIDE_COMMON_NETWORK_ENDPOINT_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

struct Endpoint {
  std::string host;  // a name or an address, without brackets
  int port = 0;
};

// INVALID_ARGUMENT: names the text and what is wrong with it. Port 0 is accepted; callers that need
// one check.
absl::StatusOr<Endpoint> ParseEndpoint(absl::string_view text);
// With brackets around IPv6 addresses.
std::string ToString(const Endpoint& endpoint);

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
  int family() const { return storage.ss_family; }
};

// Every address of the name, in the order that getaddrinfo gives. UNAVAILABLE: the name cannot be
// resolved.
absl::StatusOr<std::vector<SocketAddress>> Resolve(const Endpoint& endpoint);
// "10.0.0.1" or "::1", without port.
std::string AddressText(const SocketAddress& address);

// Inclusive; {0, 0} lets the kernel choose.
struct PortRange {
  int first = 0;
  int last = 0;
};
// "" or "0" (any), "4000", "4000-4099". INVALID_ARGUMENT otherwise.
absl::StatusOr<PortRange> ParsePortRange(absl::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_ENDPOINT_H_
