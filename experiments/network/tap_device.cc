#include "experiments/network/tap_device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

constexpr char kPath[] = "/dev/net/tun";

absl::Status Refusal(const std::string& what) {
  const int error = errno;
  const std::string message = absl::StrCat(what, ": ", strerror(error));
  if (error == EPERM || error == EACCES) {
    return absl::PermissionDeniedError(
        absl::StrCat(message, "; an emulated latency needs TUN devices and CAP_NET_ADMIN"));
  }
  return absl::UnavailableError(
      absl::StrCat(message,
                   "; an emulated latency needs TUN devices (in a container: "
                   "--device=/dev/net/tun)"));
}

}  // namespace

absl::StatusOr<FileDescriptor> OpenTapDevice(const std::string& name) {
  FileDescriptor fd(open(kPath, O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return Refusal(kPath);
  ifreq request = {};
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  name.copy(request.ifr_name, sizeof(request.ifr_name) - 1);
  if (ioctl(fd.get(), TUNSETIFF, &request) != 0)
    return Refusal(absl::StrCat(kPath, ": device ", name));
  // Else every packet would be cut to 1,500 bytes and checksummed before it is read.
  if (ioctl(fd.get(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) != 0)
    return Refusal(absl::StrCat(kPath, ": offloads of device ", name));
  return fd;
}

}  // namespace ringside
