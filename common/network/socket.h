// TCP and Unix sockets that close themselves, never block unseen and never raise SIGPIPE.
//
// All descriptors are non-blocking and closed on exec. Waits are in poll, with a deadline. Unix
// sockets have abstract names, which the kernel gives out: they leave no file behind, and are seen
// only within one network namespace.
#ifndef RINGSIDE_COMMON_NETWORK_SOCKET_H_
#define RINGSIDE_COMMON_NETWORK_SOCKET_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/network/bind_address.h"
#include "common/network/byte_stream.h"
#include "common/network/endpoint.h"

namespace ringside {

// Owns a descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() { Close(); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release();
  void Close();

 private:
  int fd_ = -1;
};

// One connection; over TCP with TCP_NODELAY. Thread-compatible.
class Socket final : public ByteStream {
 public:
  // Tries every address of the name, and all of them again while `deadline` allows: the peer may
  // still be starting. UNAVAILABLE: none has accepted in time; the message has the last error of
  // each address.
  static absl::StatusOr<std::unique_ptr<Socket>> Connect(const Endpoint& endpoint,
                                                         absl::Time deadline);
  // To the listener that BindLocal has given this name. UNAVAILABLE: nobody listens under it in
  // this network namespace.
  static absl::StatusOr<std::unique_ptr<Socket>> ConnectLocal(const std::string& name);
  // Takes a connected, non-blocking socket.
  explicit Socket(FileDescriptor fd);

  absl::StatusOr<Transfer> TryRead(absl::Span<uint8_t> into) override;
  absl::StatusOr<Transfer> TryWrite(absl::Span<const iovec> pieces) override;
  int fd() const override { return fd_.get(); }
  bool is_local() const { return local_; }

  // E.g. "cubic". INVALID_ARGUMENT: the kernel has no such algorithm or does not allow it; lists
  // those that it has.
  absl::Status SetCongestionControl(absl::string_view name);
  // The algorithm in force. Both are for TCP only.
  absl::StatusOr<std::string> CongestionControl() const;

 private:
  FileDescriptor fd_;
  bool local_ = false;  // a Unix socket
};

// As SetCongestionControl would say, without a connection: bad input shows before anything has
// started.
absl::Status CheckCongestionControl(absl::string_view name);

// Thread-compatible.
class ListeningSocket {
 public:
  // Binds `bind.listen_host` to the first free port of the range. UNAVAILABLE: no port is free, or
  // the address is not one of this host; names both.
  static absl::StatusOr<std::unique_ptr<ListeningSocket>> Bind(const BindAddress& bind);
  // A Unix socket under a name of the kernel's choice. UNAVAILABLE: there are none on this system.
  static absl::StatusOr<std::unique_ptr<ListeningSocket>> BindLocal();

  // That was bound; never 0. 0 for a Unix socket.
  int port() const { return port_; }
  // Of a Unix socket, for ConnectLocal.
  const std::string& name() const { return name_; }
  int fd() const { return fd_.get(); }

  // DEADLINE_EXCEEDED: nobody has connected. With a deadline in the past it takes only what is
  // waiting.
  absl::StatusOr<std::unique_ptr<Socket>> Accept(absl::Time deadline);

 private:
  ListeningSocket(FileDescriptor fd, int port, std::string name)
      : fd_(std::move(fd)), port_(port), name_(std::move(name)) {}

  FileDescriptor fd_;
  const int port_;
  const std::string name_;
};

// "10.0.0.1:4000" of the other end, "process 4711" over a Unix socket; "an unknown address" when
// it is gone already.
std::string PeerText(const Socket& socket);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_NETWORK_SOCKET_H_
