// What one connection within this machine can carry at most: the ceiling of rings and parameter
// servers whose processes meet there. Each probe takes some 0.1 s, and 2 s at most.
//
// Both ends are threads of this process. They move pieces that stay in the caches, frame nothing
// and add nothing, so that no exchange of gradients can be faster, but by luck. Safe from any
// thread.
#ifndef RINGSIDE_EXPERIMENTS_CEILINGS_SOCKET_CEILING_H_
#define RINGSIDE_EXPERIMENTS_CEILINGS_SOCKET_CEILING_H_

#include <memory>

#include "absl/status/statusor.h"
#include "common/network/bind_address.h"
#include "common/network/byte_stream.h"
#include "results.pb.h"

namespace ringside {

// TCP over `bind`, loopback by default; the faster of two connections, one with the system's
// congestion control and one with cubic, where that is allowed. UNAVAILABLE: no port is free there,
// or nobody may connect to it; DEADLINE_EXCEEDED: nothing arrives.
absl::StatusOr<SocketCeiling> ProbeTcp(const BindAddress& bind = {"127.0.0.1", "127.0.0.1", {}});

// A Unix socket. Errors as above.
absl::StatusOr<SocketCeiling> ProbeUnixSocket();

// The two ends of one connection, which are closed then. UNAVAILABLE, DEADLINE_EXCEEDED: what one
// end sends does not arrive at the other.
absl::StatusOr<SocketCeiling> ProbeConnection(std::unique_ptr<ByteStream> near,
                                              std::unique_ptr<ByteStream> far);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CEILINGS_SOCKET_CEILING_H_
