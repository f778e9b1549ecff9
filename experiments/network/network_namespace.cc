#include "experiments/network/network_namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <thread>

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

absl::Status NoNamespace(int error) {
  if (error == EPERM) {
    return absl::PermissionDeniedError(
        "network namespaces need root, or CAP_SYS_ADMIN and CAP_NET_ADMIN (in a container: "
        "--cap-add=SYS_ADMIN --cap-add=NET_ADMIN)");
  }
  return absl::UnavailableError(
      absl::StrCat("no network namespace can be made: ", strerror(error),
                   error == ENOSPC ? " (see /proc/sys/user/max_net_namespaces)" : ""));
}

}  // namespace

absl::StatusOr<NetworkNamespace> NetworkNamespace::Create() {
  // Only the thread that asks moves to the new namespace: one that has nothing else to do.
  int fd = -1;
  int error = 0;
  std::thread([&fd, &error] {
    if (unshare(CLONE_NEWNET) == 0) fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (fd < 0) error = errno;
  }).join();
  if (fd < 0) return NoNamespace(error);
  return NetworkNamespace(FileDescriptor(fd));
}

std::string NetworkNamespace::path() const {
  return absl::StrCat("/proc/", getpid(), "/fd/", fd());
}

absl::Status NetworkNamespace::Run(const std::function<absl::Status()>& work) const {
  absl::Status status;
  std::thread([this, &work, &status] {
    status = setns(fd(), CLONE_NEWNET) == 0
                 ? work()
                 : absl::InternalError(
                       absl::StrCat("cannot enter a network namespace: ", strerror(errno)));
  }).join();
  return status;
}

}  // namespace ringside
