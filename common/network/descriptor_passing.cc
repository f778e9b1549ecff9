#include "common/network/descriptor_passing.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/network/poll.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// Descriptors travel beside at least one byte of data: their number.
union ControlBuffer {
  cmsghdr alignment;
  char bytes[CMSG_SPACE(kMaxPassedDescriptors * sizeof(int))];
};

absl::Status AwaitReady(const Socket& socket, short events, absl::Time deadline) {
  pollfd entry = {socket.fd(), events, 0};
  RINGSIDE_ASSIGN_OR_RETURN(const bool ready, PollUntil(absl::MakeSpan(&entry, 1), deadline));
  return ready ? absl::OkStatus()
               : absl::DeadlineExceededError("no open files were passed in time");
}

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

absl::Status SendDescriptors(Socket* socket, absl::Span<const int> descriptors,
                             absl::Time deadline) {
  if (descriptors.empty() || descriptors.size() > kMaxPassedDescriptors || !socket->is_local()) {
    return absl::InvalidArgumentError(
        absl::StrCat(descriptors.size(), " open files to be passed; a Unix socket passes 1 to ",
                     kMaxPassedDescriptors));
  }
  auto count = static_cast<uint8_t>(descriptors.size());
  iovec data = {&count, 1};
  ControlBuffer control = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  while (sendmsg(socket->fd(), &message, MSG_NOSIGNAL) != 1) {
    if (!WouldBlock(errno)) {
      return absl::UnavailableError(absl::StrCat("the connection is broken: ", strerror(errno)));
    }
    RINGSIDE_RETURN_IF_ERROR(AwaitReady(*socket, POLLOUT, deadline));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<FileDescriptor>> ReceiveDescriptors(Socket* socket,
                                                               absl::Time deadline) {
  uint8_t count = 0;
  iovec data = {&count, 1};
  ControlBuffer control = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof(control.bytes);
  ssize_t received = 0;
  while ((received = recvmsg(socket->fd(), &message, MSG_CMSG_CLOEXEC)) < 0) {
    if (!WouldBlock(errno)) {
      return absl::UnavailableError(absl::StrCat("the connection is broken: ", strerror(errno)));
    }
    RINGSIDE_RETURN_IF_ERROR(AwaitReady(*socket, POLLIN, deadline));
  }
  if (received == 0) return absl::UnavailableError("the peer has closed the connection");
  std::vector<FileDescriptor> descriptors;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t passed = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < passed; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      descriptors.emplace_back(fd);
    }
  }
  if (descriptors.empty() || descriptors.size() != count) {
    return absl::InvalidArgumentError(absl::StrCat("the peer announces ", int{count},
                                                   " open files and passes ", descriptors.size()));
  }
  return descriptors;
}

}  // namespace ringside
