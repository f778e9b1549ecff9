#include "common/network/socket.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/network/poll.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr int kBacklog = 128;
constexpr absl::Duration kFirstRetryPause = absl::Milliseconds(5);
constexpr absl::Duration kLongestRetryPause = absl::Milliseconds(250);

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

absl::StatusOr<FileDescriptor> MakeTcpSocket(int family) {
  FileDescriptor fd(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!fd.valid()) return absl::UnavailableError(absl::StrCat("no socket: ", strerror(errno)));
  return fd;
}

absl::StatusOr<FileDescriptor> MakeLocalSocket() {
  FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return absl::UnavailableError(absl::StrCat("no Unix socket: ", strerror(errno)));
  return fd;
}

// While nobody listens on a port of the ephemeral range, a connection to it from this host can meet
// itself.
bool IsConnectedToItself(int fd) {
  SocketAddress local;
  SocketAddress peer;
  local.length = peer.length = sizeof(sockaddr_storage);
  return getsockname(fd, reinterpret_cast<sockaddr*>(&local.storage), &local.length) == 0 &&
         getpeername(fd, reinterpret_cast<sockaddr*>(&peer.storage), &peer.length) == 0 &&
         local.length == peer.length &&
         std::memcmp(&local.storage, &peer.storage, local.length) == 0;
}

absl::StatusOr<FileDescriptor> ConnectOnce(const SocketAddress& address, absl::Time deadline) {
  RINGSIDE_ASSIGN_OR_RETURN(FileDescriptor fd, MakeTcpSocket(address.family()));
  int error = 0;
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.length) != 0) {
    error = errno;
  }
  if (error == EINPROGRESS) {
    pollfd entry = {fd.get(), POLLOUT, 0};
    RINGSIDE_ASSIGN_OR_RETURN(const bool ready, PollUntil(absl::MakeSpan(&entry, 1), deadline));
    if (!ready) return absl::UnavailableError("no answer");
    socklen_t length = sizeof(error);
    if (getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  }
  if (error == 0 && IsConnectedToItself(fd.get())) error = ECONNREFUSED;
  if (error != 0) return absl::UnavailableError(strerror(error));
  return fd;
}

std::string FirstLineOf(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.empty() ? "unknown" : line;
}

absl::Status ApplyCongestionControl(int fd, absl::string_view name) {
  if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), name.size()) == 0) {
    return absl::OkStatus();
  }
  const bool forbidden = errno == EPERM;
  return absl::InvalidArgumentError(
      absl::StrCat("congestion control \"", name, "\" is ",
                   forbidden ? "not allowed to this user" : "not available", " (", strerror(errno),
                   "); ", forbidden ? "allowed: " : "available: ",
                   FirstLineOf(forbidden ? "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
                                         : "/proc/sys/net/ipv4/tcp_available_congestion_control")));
}

// Binds and listens. The errno where that fails; the bound port is then not set.
int BindOnce(const SocketAddress& address, int port, FileDescriptor* out, int* bound_port) {
  absl::StatusOr<FileDescriptor> fd = MakeTcpSocket(address.family());
  if (!fd.ok()) return EAFNOSUPPORT;
  // Lets a run follow another on the same port at once. Two listeners on one port are still
  // refused.
  const int on = 1;
  setsockopt(fd->get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  SocketAddress target = address;
  if (target.family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&target.storage)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(&target.storage)->sin_port = htons(port);
  }
  auto* name = reinterpret_cast<sockaddr*>(&target.storage);
  if (bind(fd->get(), name, target.length) != 0) return errno;
  if (listen(fd->get(), kBacklog) != 0) return errno;
  if (getsockname(fd->get(), name, &target.length) != 0) return errno;
  *bound_port = ntohs(target.family() == AF_INET6
                          ? reinterpret_cast<sockaddr_in6*>(&target.storage)->sin6_port
                          : reinterpret_cast<sockaddr_in*>(&target.storage)->sin_port);
  *out = std::move(*fd);
  return 0;
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = other.Release();
  }
  return *this;
}

int FileDescriptor::Release() {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

void FileDescriptor::Close() {
  if (valid()) close(Release());
}

absl::StatusOr<std::unique_ptr<Socket>> Socket::Connect(const Endpoint& endpoint,
                                                        absl::Time deadline) {
  const absl::Time start = absl::Now();
  std::map<std::string, std::string> failures;  // address -> its last error
  absl::Duration pause = kFirstRetryPause;
  for (;;) {
    const absl::StatusOr<std::vector<SocketAddress>> addresses = Resolve(endpoint);
    if (!addresses.ok()) failures[endpoint.host] = std::string(addresses.status().message());
    for (size_t i = 0; addresses.ok() && i < addresses->size(); ++i) {
      // An address that swallows everything must leave time for the others.
      const absl::Time now = absl::Now();
      const absl::Time limit = now + (deadline - now) / static_cast<int64_t>(addresses->size() - i);
      absl::StatusOr<FileDescriptor> fd = ConnectOnce((*addresses)[i], limit);
      if (fd.ok()) return std::make_unique<Socket>(*std::move(fd));
      failures[AddressText((*addresses)[i])] = std::string(fd.status().message());
    }
    const absl::Time now = absl::Now();
    if (now >= deadline) break;
    absl::SleepFor(std::min(pause, deadline - now));
    pause = std::min(2 * pause, kLongestRetryPause);
  }
  return absl::UnavailableError(
      absl::StrCat("cannot connect to ", ToString(endpoint), " within ",
                   absl::FormatDuration(absl::Trunc(absl::Now() - start, absl::Milliseconds(1))),
                   " (", absl::StrJoin(failures, "; ", absl::PairFormatter(": ")), ")"));
}

absl::StatusOr<std::unique_ptr<Socket>> Socket::ConnectLocal(const std::string& name) {
  RINGSIDE_ASSIGN_OR_RETURN(FileDescriptor fd, MakeLocalSocket());
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() >= sizeof(address.sun_path)) {
    return absl::UnavailableError(absl::StrCat("no Unix socket can be named \"", name, "\""));
  }
  // An abstract name follows a zero byte.
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const socklen_t length = offsetof(sockaddr_un, sun_path) + 1 + name.size();
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot connect to the Unix socket @", name, ": ", strerror(errno)));
  }
  return std::make_unique<Socket>(std::move(fd));
}

Socket::Socket(FileDescriptor fd) : fd_(std::move(fd)) {
  const int on = 1;
  int domain = AF_UNSPEC;
  socklen_t length = sizeof(domain);
  local_ = getsockopt(fd_.get(), SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
  if (!local_) setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

absl::StatusOr<ByteStream::Transfer> Socket::TryRead(absl::Span<uint8_t> into) {
  if (into.empty()) return Transfer{0, POLLIN};
  for (;;) {
    const ssize_t count = recv(fd_.get(), into.data(), into.size(), 0);
    if (count > 0) return Transfer{static_cast<size_t>(count), 0};
    if (count == 0) return absl::UnavailableError("the peer has closed the connection");
    if (WouldBlock(errno)) return Transfer{0, POLLIN};
    if (errno != EINTR) {
      return absl::UnavailableError(absl::StrCat("the connection is broken: ", strerror(errno)));
    }
  }
}

absl::StatusOr<ByteStream::Transfer> Socket::TryWrite(absl::Span<const iovec> pieces) {
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  for (;;) {
    const ssize_t count = sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    if (count >= 0) return Transfer{static_cast<size_t>(count), 0};
    if (WouldBlock(errno)) return Transfer{0, POLLOUT};
    if (errno != EINTR) {
      return absl::UnavailableError(absl::StrCat("the connection is broken: ", strerror(errno)));
    }
  }
}

absl::Status Socket::SetCongestionControl(absl::string_view name) {
  return ApplyCongestionControl(fd_.get(), name);
}

absl::StatusOr<std::string> Socket::CongestionControl() const {
  char name[16] = "";  // TCP_CA_NAME_MAX
  socklen_t length = sizeof(name);
  if (getsockopt(fd_.get(), IPPROTO_TCP, TCP_CONGESTION, name, &length) != 0) {
    return absl::InternalError(
        absl::StrCat("congestion control cannot be read: ", strerror(errno)));
  }
  return std::string(name, strnlen(name, length));
}

absl::Status CheckCongestionControl(absl::string_view name) {
  RINGSIDE_ASSIGN_OR_RETURN(const FileDescriptor fd, MakeTcpSocket(AF_INET));
  return ApplyCongestionControl(fd.get(), name);
}

absl::StatusOr<std::unique_ptr<ListeningSocket>> ListeningSocket::Bind(const BindAddress& bind) {
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<SocketAddress> addresses,
                            Resolve({bind.listen_host, 0}));
  int error = 0;
  for (const SocketAddress& address : addresses) {
    for (int port = bind.ports.first; port <= bind.ports.last; ++port) {
      FileDescriptor fd;
      int bound_port = 0;
      error = BindOnce(address, port, &fd, &bound_port);
      if (error == 0) {
        return absl::WrapUnique(new ListeningSocket(std::move(fd), bound_port, ""));
      }
      if (error != EADDRINUSE && error != EACCES) break;  // no other port would do better
    }
  }
  const bool any = bind.ports.first == 0;
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", bind.listen_host, ", ",
                   any ? "any port"
                   : bind.ports.first == bind.ports.last
                       ? absl::StrCat("port ", bind.ports.first)
                       : absl::StrCat("ports ", bind.ports.first, " to ", bind.ports.last),
                   ": ", strerror(error)));
}

absl::StatusOr<std::unique_ptr<ListeningSocket>> ListeningSocket::BindLocal() {
  RINGSIDE_ASSIGN_OR_RETURN(FileDescriptor fd, MakeLocalSocket());
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  socklen_t length = sizeof(address.sun_family);  // without a name: the kernel finds a free one
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd.get(), generic, length) != 0 || listen(fd.get(), kBacklog) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on a Unix socket: ", strerror(errno)));
  }
  length = sizeof(address);
  if (getsockname(fd.get(), generic, &length) != 0 ||
      length <= offsetof(sockaddr_un, sun_path) + 1) {
    return absl::UnavailableError("the name of a Unix socket cannot be read");
  }
  std::string name(address.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);
  return absl::WrapUnique(new ListeningSocket(std::move(fd), 0, std::move(name)));
}

absl::StatusOr<std::unique_ptr<Socket>> ListeningSocket::Accept(absl::Time deadline) {
  for (;;) {
    FileDescriptor fd(accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.valid()) return std::make_unique<Socket>(std::move(fd));
    // A connection that has died in the queue is no error of ours.
    if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
    if (!WouldBlock(errno)) {
      return absl::UnavailableError(absl::StrCat("cannot accept: ", strerror(errno)));
    }
    pollfd entry = {fd_.get(), POLLIN, 0};
    RINGSIDE_ASSIGN_OR_RETURN(const bool ready, PollUntil(absl::MakeSpan(&entry, 1), deadline));
    if (!ready) {
      return absl::DeadlineExceededError(absl::StrCat(
          "nobody has connected to ",
          name_.empty() ? absl::StrCat("port ", port_) : absl::StrCat("@", name_), " in time"));
    }
  }
}

std::string PeerText(const Socket& socket) {
  if (socket.is_local()) {
    ucred peer = {};
    socklen_t length = sizeof(peer);
    const bool known = getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0;
    return known ? absl::StrCat("process ", peer.pid) : "an unknown process";
  }
  SocketAddress peer;
  peer.length = sizeof(sockaddr_storage);
  if (getpeername(socket.fd(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.length) != 0) {
    return "an unknown address";
  }
  const int port =
      ntohs(peer.family() == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&peer.storage)->sin6_port
                                      : reinterpret_cast<sockaddr_in*>(&peer.storage)->sin_port);
  return ToString(Endpoint{AddressText(peer), port});
}

}  // namespace ringside
