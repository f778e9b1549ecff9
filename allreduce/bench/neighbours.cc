#include "allreduce/bench/neighbours.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "common/network/endpoint.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<Neighbours> ConnectNeighbours(absl::string_view transport, int rank, int world_size,
                                             const std::string& congestion_control,
                                             const AddressExchange& exchange, absl::Time deadline) {
  const bool tcp = transport == "tcp";
  std::unique_ptr<ListeningSocket> listener;
  RINGSIDE_ASSIGN_OR_RETURN(listener,
                            tcp ? ListeningSocket::Bind({"127.0.0.1", "127.0.0.1", PortRange()})
                                : ListeningSocket::BindLocal());
  RINGSIDE_ASSIGN_OR_RETURN(
      const std::vector<std::string> addresses,
      exchange(tcp ? absl::StrCat("127.0.0.1:", listener->port()) : listener->name()));
  const std::string& right = addresses[(rank + 1) % world_size];
  Neighbours neighbours;
  if (tcp) {
    RINGSIDE_ASSIGN_OR_RETURN(const Endpoint endpoint, ParseEndpoint(right));
    RINGSIDE_ASSIGN_OR_RETURN(neighbours.right, Socket::Connect(endpoint, deadline));
  } else {
    RINGSIDE_ASSIGN_OR_RETURN(neighbours.right, Socket::ConnectLocal(right));
  }
  RINGSIDE_ASSIGN_OR_RETURN(neighbours.left, listener->Accept(deadline));
  if (tcp && !congestion_control.empty()) {
    RINGSIDE_RETURN_IF_ERROR(neighbours.left->SetCongestionControl(congestion_control));
    RINGSIDE_RETURN_IF_ERROR(neighbours.right->SetCongestionControl(congestion_control));
  }
  return neighbours;
}

}  // namespace ringside
