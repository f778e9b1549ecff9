// The addresses of this machine's network interfaces, and the choice among them. Pure, but for
// ListInterfaceAddresses.
#ifndef RINGSIDE_COMMON_NETWORK_INTERFACE_ADDRESS_H_
#define RINGSIDE_COMMON_NETWORK_INTERFACE_ADDRESS_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

// An IPv4 or IPv6 address without a port.
struct IpAddress {
  int family = AF_UNSPEC;      // AF_INET or AF_INET6
  std::vector<uint8_t> bytes;  // 4 or 16, in network order
  std::string text;            // as inet_ntop writes it; with "%eth0" where it is link-local

  bool is_any() const;         // 0.0.0.0 or ::
  bool is_loopback() const;    // 127.0.0.0/8 or ::1
  bool is_link_local() const;  // 169.254.0.0/16 or fe80::/10
};

// INVALID_ARGUMENT: not an address. Brackets around IPv6 and a zone ("%eth0") are accepted.
absl::StatusOr<IpAddress> ParseIpAddress(absl::string_view text);

struct InterfaceAddress {
  std::string interface;
  IpAddress address;
};

// Of all interfaces that are up, in the kernel's order. INTERNAL: the kernel refuses.
absl::StatusOr<std::vector<InterfaceAddress>> ListInterfaceAddresses();

// "lo (127.0.0.1, ::1), eth0 (10.0.0.5)"
std::string Describe(const std::vector<InterfaceAddress>& addresses);

// The address to use for `selector`, an interface's name ("eth0") or a CIDR ("10.0.0.0/16"). Of
// several: those of `preferred_family` come first, link-local ones last; else the kernel's order.
// INVALID_ARGUMENT: no such interface, a malformed CIDR, no address in it; lists the candidates.
absl::StatusOr<IpAddress> SelectByInterface(const std::vector<InterfaceAddress>& addresses,
                                            absl::string_view selector, int preferred_family);

// True where `address` can be bound: it is an interface's, a loopback address, or "any".
bool IsLocal(const std::vector<InterfaceAddress>& addresses, const IpAddress& address);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_INTERFACE_ADDRESS_H_
