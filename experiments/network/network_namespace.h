// A network namespace that exists as long as somebody holds it: this object, or a process or socket
// within.
//
// It has no name and no file. When the last holder is gone, killed or not, the kernel takes the
// namespace down with all devices in it, so nothing can be left behind. Thread-compatible.
#ifndef RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_NAMESPACE_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_NAMESPACE_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/network/socket.h"

namespace ringside {

class NetworkNamespace {
 public:
  // An empty one: with a loopback device that is down. PERMISSION_DENIED: this process lacks
  // CAP_SYS_ADMIN; UNAVAILABLE: the kernel has or gives no more of them, with its reason.
  static absl::StatusOr<NetworkNamespace> Create();

  // For setns.
  int fd() const { return fd_.get(); }
  // By which a process of the same user finds it while this object lives.
  std::string path() const;

  // Runs `work` in a thread of its own within the namespace, and waits for it. Sockets that it
  // makes stay in the namespace wherever they are used, and so do threads that it starts. INTERNAL:
  // the namespace cannot be entered; else what `work` returns.
  absl::Status Run(const std::function<absl::Status()>& work) const;

 private:
  explicit NetworkNamespace(FileDescriptor fd) : fd_(std::move(fd)) {}

  FileDescriptor fd_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_NAMESPACE_H_
