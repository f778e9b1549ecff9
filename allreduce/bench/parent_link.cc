#include "allreduce/bench/parent_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "absl/memory/memory.h"
#include "absl/time/clock.h"
#include "allreduce/bench/control_channel.h"
#include "common/network/poll.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// The parent reads answers as they come.
constexpr absl::Duration kReplyTimeout = absl::Seconds(60);

}  // namespace

absl::StatusOr<std::unique_ptr<ParentLink>> ParentLink::Connect(const std::string& control,
                                                                int rank) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Socket> socket, Socket::ConnectLocal(control));
  auto link = absl::WrapUnique(new ParentLink(std::move(socket)));
  RankReply hello;
  hello.mutable_hello()->set_rank(rank);
  hello.mutable_hello()->set_pid(getpid());
  RINGSIDE_RETURN_IF_ERROR(link->Reply(hello));
  return link;
}

ParentLink::ParentLink(std::unique_ptr<Socket> socket)
    : socket_(std::move(socket)), watcher_([this] { EndWithParent(); }) {}

ParentLink::~ParentLink() {
  finished_ = true;
  shutdown(socket_->fd(), SHUT_RDWR);  // wakes the watcher
  watcher_.join();
}

void ParentLink::EndWithParent() {
  pollfd hangup = {socket_->fd(), POLLRDHUP, 0};
  const absl::StatusOr<bool> hung_up =
      PollUntil(absl::MakeSpan(&hangup, 1), absl::InfiniteFuture());
  static_cast<void>(hung_up);
  if (!finished_) _exit(1);
}

absl::Status ParentLink::Reply(const RankReply& reply) {
  return WriteControlMessage(reply, socket_.get(), absl::Now() + kReplyTimeout);
}

absl::Status ParentLink::Serve(const Handler& handle) {
  for (;;) {
    RankRequest request;
    RINGSIDE_RETURN_IF_ERROR(ReadControlMessage(socket_.get(), &request, absl::InfiniteFuture()));
    RankReply reply;
    const absl::Status status = handle(request, reply.mutable_done());
    reply.mutable_done()->set_code(static_cast<int>(status.code()));
    reply.mutable_done()->set_message(std::string(status.message()));
    if (request.has_finish()) finished_ = true;
    RINGSIDE_RETURN_IF_ERROR(Reply(reply));
    if (finished_) return absl::OkStatus();
  }
}

absl::StatusOr<std::vector<std::string>> ParentLink::Exchange(const std::string& mine, int size,
                                                              absl::Duration timeout) {
  RankReply reply;
  reply.set_exchange(mine);
  RINGSIDE_RETURN_IF_ERROR(Reply(reply));
  RankRequest request;
  RINGSIDE_RETURN_IF_ERROR(ReadControlMessage(socket_.get(), &request, absl::Now() + timeout));
  if (request.exchanged().entries_size() != size) {
    return absl::InternalError("the parent did not answer an exchange");
  }
  return std::vector<std::string>(request.exchanged().entries().begin(),
                                  request.exchanged().entries().end());
}

}  // namespace ringside
