#include "common/network/bind_address.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/network/interface_address.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr char kLoopback[] = "127.0.0.1";

// With the zone, without which a link-local address means nothing.
std::string TextWithZone(const SocketAddress& address) {
  std::string text = AddressText(address);
  if (address.family() != AF_INET6) return text;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
  char name[IF_NAMESIZE] = {};
  if (v6.sin6_scope_id != 0 && if_indextoname(v6.sin6_scope_id, name) != nullptr) {
    absl::StrAppend(&text, "%", name);
  }
  return text;
}

// The local address from which the kernel would send to `remote`. A connected UDP socket sends
// nothing; connecting it only looks up the route.
absl::StatusOr<std::string> RouteTo(const SocketAddress& remote) {
  const auto failed = [&remote](int error) {
    return absl::UnavailableError(absl::StrCat(AddressText(remote), ": ", strerror(error)));
  };
  const int fd = socket(remote.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return failed(errno);
  SocketAddress local;
  local.length = sizeof(local.storage);
  const bool found =
      connect(fd, reinterpret_cast<const sockaddr*>(&remote.storage), remote.length) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&local.storage), &local.length) == 0;
  const int error = errno;
  close(fd);
  if (!found) return failed(error);
  return TextWithZone(local);
}

// Tries every address of the coordinator's name; with a family, only those of it.
absl::StatusOr<std::string> RouteToCoordinator(const Endpoint& coordinator, int family) {
  // The discard port: connecting to port 0 is an error on some kernels, and no packet is sent.
  Endpoint target = coordinator;
  if (target.port == 0) target.port = 9;
  if (target.host.empty()) target.host = kLoopback;
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<SocketAddress> remotes, Resolve(target));
  std::vector<std::string> errors;
  for (const SocketAddress& remote : remotes) {
    if (family != AF_UNSPEC && remote.family() != family) continue;
    absl::StatusOr<std::string> local = RouteTo(remote);
    if (local.ok()) return local;
    errors.emplace_back(local.status().message());
  }
  return absl::UnavailableError(
      absl::StrCat("no route to the coordinator ", ToString(coordinator), ": ",
                   errors.empty() ? "no address of that family" : absl::StrJoin(errors, "; ")));
}

int PreferredFamily(const Endpoint& coordinator) {
  if (coordinator.host.empty()) return AF_INET;
  const auto remotes = Resolve(coordinator);
  return remotes.ok() ? remotes->front().family() : AF_INET;
}

absl::StatusOr<std::string> HostFromListen(const std::string& listen,
                                           const std::vector<InterfaceAddress>& interfaces) {
  if (listen == "localhost") return std::string(kLoopback);
  const auto address = ParseIpAddress(listen);
  if (!address.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--listen=", listen, ": not an IP address; there are ", Describe(interfaces)));
  }
  if (!IsLocal(interfaces, *address)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--listen=", listen, ": not an address of this host; there are ", Describe(interfaces)));
  }
  return address->text;
}

// A name that is not meant to stay on this host, though /etc/hosts may put it on loopback: Debian
// gives a machine's own name to 127.0.1.1.
bool IsNameOfAHost(const std::string& host) {
  return !host.empty() && host != "localhost" && !ParseIpAddress(host).ok();
}

// The route to the coordinator starts at `address`. If that is loopback only because the
// coordinator's name is this host's own, others need an address that leads here.
std::string ReachableFromOthers(const std::string& address, const Endpoint& coordinator) {
  const auto local = ParseIpAddress(address);
  if (!local.ok() || !local->is_loopback() || !IsNameOfAHost(coordinator.host)) return address;
  const auto interfaces = ListInterfaceAddresses();
  if (!interfaces.ok()) return address;
  for (const InterfaceAddress& candidate : *interfaces) {
    const IpAddress& other = candidate.address;
    if (other.family != local->family || other.is_loopback() || other.is_link_local()) continue;
    return other.text;
  }
  return address;
}

absl::StatusOr<std::string> ListenHost(const NetworkOptions& options, const Endpoint& coordinator) {
  if (options.listen.empty() && options.interface.empty()) {
    RINGSIDE_ASSIGN_OR_RETURN(const std::string address,
                              RouteToCoordinator(coordinator, AF_UNSPEC));
    return ReachableFromOthers(address, coordinator);
  }
  RINGSIDE_ASSIGN_OR_RETURN(const auto interfaces, ListInterfaceAddresses());
  if (!options.listen.empty()) return HostFromListen(options.listen, interfaces);
  RINGSIDE_ASSIGN_OR_RETURN(
      const IpAddress address,
      SelectByInterface(interfaces, options.interface, PreferredFamily(coordinator)));
  return address.text;
}

absl::StatusOr<std::string> AdvertiseHost(const NetworkOptions& options,
                                          const std::string& listen_host,
                                          const Endpoint& coordinator) {
  if (options.advertise.empty()) {
    const auto bound = ParseIpAddress(listen_host);
    // Nobody can connect to "any address": tell the others the one that leads to the coordinator.
    if (bound.ok() && bound->is_any()) {
      return RouteToCoordinator(coordinator, bound->family == AF_INET ? AF_INET : AF_UNSPEC);
    }
    return listen_host;
  }
  const auto address = ParseIpAddress(options.advertise);
  if (address.ok() && !address->is_any()) return address->text;
  if (address.ok() || options.advertise.find_first_of(":/[] ") != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("--advertise=", options.advertise,
                     ": must be a name or an address that others can connect to, without a port"));
  }
  return options.advertise;
}

}  // namespace

absl::StatusOr<BindAddress> ChooseBindAddress(const NetworkOptions& options,
                                              const Endpoint& coordinator) {
  BindAddress bind;
  RINGSIDE_ASSIGN_OR_RETURN(bind.ports, ParsePortRange(options.port_range));
  RINGSIDE_ASSIGN_OR_RETURN(bind.listen_host, ListenHost(options, coordinator));
  RINGSIDE_ASSIGN_OR_RETURN(bind.advertise_host,
                            AdvertiseHost(options, bind.listen_host, coordinator));
  return bind;
}

absl::StatusOr<BindAddress> ChooseCoordinatorBind(const NetworkOptions& options,
                                                  const Endpoint& endpoint) {
  BindAddress bind;
  if (!options.listen.empty() || !options.interface.empty()) {
    RINGSIDE_ASSIGN_OR_RETURN(bind, ChooseBindAddress(options, endpoint));
  } else {
    RINGSIDE_ASSIGN_OR_RETURN(bind.ports, ParsePortRange(options.port_range));
    RINGSIDE_ASSIGN_OR_RETURN(const std::vector<SocketAddress> addresses, Resolve(endpoint));
    bind.listen_host = TextWithZone(addresses.front());
    bind.advertise_host = options.advertise.empty() ? endpoint.host : options.advertise;
    RINGSIDE_ASSIGN_OR_RETURN(const IpAddress address, ParseIpAddress(bind.listen_host));
    RINGSIDE_ASSIGN_OR_RETURN(const auto interfaces, ListInterfaceAddresses());
    if (address.is_loopback() && IsNameOfAHost(endpoint.host)) {
      bind.listen_host = address.family == AF_INET ? "0.0.0.0" : "::";
    } else if (!address.is_any() && !address.is_loopback() && !IsLocal(interfaces, address)) {
      RINGSIDE_ASSIGN_OR_RETURN(bind.listen_host, ListenHost(options, endpoint));
    }
  }
  if (endpoint.port != 0) bind.ports = {endpoint.port, endpoint.port};
  return bind;
}

}  // namespace ringside
