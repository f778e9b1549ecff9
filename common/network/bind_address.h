// Which address a process listens on, and which one it tells the others.
#ifndef RINGSIDE_COMMON_NETWORK_BIND_ADDRESS_H_
#define RINGSIDE_COMMON_NETWORK_BIND_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/network/endpoint.h"

namespace ringside {

// What the user said; all may be empty.
struct NetworkOptions {
  std::string interface;   // a name ("eth0") or a CIDR ("10.0.0.0/16", "fd00::/8") that an address
                           // must lie in
  std::string listen;      // an address to bind, overrides the choice by interface
  std::string advertise;   // a name or address that others connect to, when it differs from the
                           // bound one (NAT, containers)
  std::string port_range;  // see ParsePortRange
};

struct BindAddress {
  std::string listen_host;     // an address
  std::string advertise_host;  // a name or an address
  PortRange ports;
};

// The address that options name; without any, the local address from which the kernel routes to
// `coordinator` (loopback for a loopback coordinator, but not where only /etc/hosts makes it
// loopback). INVALID_ARGUMENT: no such interface, no address in the CIDR, an address that is not
// local; the message lists the candidates. UNAVAILABLE: the coordinator's name does not resolve, or
// no route leads to it.
absl::StatusOr<BindAddress> ChooseBindAddress(const NetworkOptions& options,
                                              const Endpoint& coordinator);

// Where to host the coordinator that all know as `endpoint`: without --listen or --interface its
// first address, all addresses of this host when /etc/hosts puts its name on loopback, and the
// address that routes there when it is not one of this host (a NAT, a service's address). Its port,
// unless 0. Errors as above.
absl::StatusOr<BindAddress> ChooseCoordinatorBind(const NetworkOptions& options,
                                                  const Endpoint& endpoint);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_BIND_ADDRESS_H_
