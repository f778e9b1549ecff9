// Which machine, and which network namespace of it, a process runs on.
#ifndef RINGSIDE_COMMON_NETWORK_HOST_IDENTITY_H_
#define RINGSIDE_COMMON_NETWORK_HOST_IDENTITY_H_

#include "coordinator.pb.h"

namespace ringside {

// Reads /proc. What cannot be read stays empty, and then no other process is on the same host.
HostIdentity ReadHostIdentity();

// True where boot id and network namespace are known and agree. Host names are not compared: two
// containers can share one, and one machine can have two.
bool SameHost(const HostIdentity& a, const HostIdentity& b);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_HOST_IDENTITY_H_
