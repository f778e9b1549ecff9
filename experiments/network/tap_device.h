// A network device whose cable is a descriptor.
#ifndef RINGSIDE_EXPERIMENTS_NETWORK_TAP_DEVICE_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_TAP_DEVICE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "common/network/socket.h"

namespace ringside {

// The largest frame that a read gives: 64 KiB that the other end is to cut or not, with headers.
constexpr size_t kMaxTapFrameBytes = (64 << 10) + 256;

// Makes the Ethernet device `name` in the network namespace of the calling thread. A read from the
// descriptor, which does not block, gives one frame that the device has sent; a write lets it
// receive one. A virtio_net_hdr goes before each, by which large packets pass whole and without
// checksums, as between two machines of one host. The device is gone with the descriptor.
// UNAVAILABLE, PERMISSION_DENIED: the kernel refuses; says what it needs.
absl::StatusOr<FileDescriptor> OpenTapDevice(const std::string& name);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_TAP_DEVICE_H_
