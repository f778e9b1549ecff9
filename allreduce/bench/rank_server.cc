#include "allreduce/bench/rank_server.h"

#include <poll.h>
#include <unistd.h>

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "allreduce/bench/contender_catalog.h"
#include "allreduce/bench/control_channel.h"
#include "allreduce/bench/memory_task.h"
#include "allreduce/bench/own_contenders.h"
#include "allreduce/bench/raw_exchange_task.h"
#include "common/network/poll.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// The parent reads answers as they come.
constexpr absl::Duration kReplyTimeout = absl::Seconds(60);

}  // namespace

absl::StatusOr<std::unique_ptr<RankServer>> RankServer::Connect(const std::string& control,
                                                                int rank) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Socket> socket, Socket::ConnectLocal(control));
  auto server = absl::WrapUnique(new RankServer(std::move(socket), rank));
  RankReply hello;
  hello.mutable_hello()->set_rank(rank);
  hello.mutable_hello()->set_pid(getpid());
  RINGSIDE_RETURN_IF_ERROR(server->Reply(hello));
  return server;
}

RankServer::RankServer(std::unique_ptr<Socket> socket, int rank)
    : socket_(std::move(socket)), rank_(rank) {
  watcher_ = std::thread([this] { EndWithParent(); });
}

RankServer::~RankServer() {
  finished_ = true;
  shutdown(socket_->fd(), SHUT_RDWR);  // wakes the watcher
  watcher_.join();
}

void RankServer::EndWithParent() {
  pollfd hangup = {socket_->fd(), POLLRDHUP, 0};
  const absl::StatusOr<bool> hung_up =
      PollUntil(absl::MakeSpan(&hangup, 1), absl::InfiniteFuture());
  static_cast<void>(hung_up);
  if (!finished_) _exit(1);
}

absl::Status RankServer::Reply(const RankReply& reply) {
  return WriteControlMessage(reply, socket_.get(), absl::Now() + kReplyTimeout);
}

absl::StatusOr<std::vector<std::string>> RankServer::Exchange(const std::string& mine) {
  RankReply reply;
  reply.set_exchange(mine);
  RINGSIDE_RETURN_IF_ERROR(Reply(reply));
  RankRequest request;
  RINGSIDE_RETURN_IF_ERROR(
      ReadControlMessage(socket_.get(), &request, absl::Now() + context_->timeout()));
  if (request.exchanged().entries_size() != context_->world_size()) {
    return absl::InternalError("the parent did not answer an exchange");
  }
  return std::vector<std::string>(request.exchanged().entries().begin(),
                                  request.exchanged().entries().end());
}

absl::Status RankServer::Run() {
  for (;;) {
    RankRequest request;
    RINGSIDE_RETURN_IF_ERROR(ReadControlMessage(socket_.get(), &request, absl::InfiniteFuture()));
    RankReply reply;
    const absl::Status status = Handle(request, reply.mutable_done());
    reply.mutable_done()->set_code(static_cast<int>(status.code()));
    reply.mutable_done()->set_message(std::string(status.message()));
    if (request.has_finish()) finished_ = true;
    RINGSIDE_RETURN_IF_ERROR(Reply(reply));
    if (finished_) return absl::OkStatus();
  }
}

absl::Status RankServer::Handle(const RankRequest& request, RankDone* done) {
  if (request.has_finish()) return absl::OkStatus();
  if (request.has_setup()) {
    context_ = std::make_unique<RankContext>(
        rank_, request.setup(), [this](const std::string& mine) { return Exchange(mine); });
    return absl::OkStatus();
  }
  if (context_ == nullptr) return absl::FailedPreconditionError("no setup yet");
  if (request.has_prepare()) return Prepare(request.prepare().contender(), done);
  const auto task = tasks_.find(request.run().contender());
  if (!request.has_run() || task == tasks_.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat("contender \"", request.run().contender(), "\" is not prepared"));
  }
  return task->second->Run(request.run(), done);
}

absl::Status RankServer::Prepare(const std::string& name, RankDone* done) {
  RINGSIDE_ASSIGN_OR_RETURN(const Contender contender, FindContender(name));
  absl::StatusOr<std::unique_ptr<RankTask>> task;
  switch (contender.kind) {
    case Contender::Kind::kOwn:
      task = MakeOwnContender(contender, context_.get());
      break;
    case Contender::Kind::kGloo:
    case Contender::Kind::kMpi:
      task = foreign_.Make(contender, context_.get());
      break;
    case Contender::Kind::kRawExchange:
      task = RawExchangeTask::Create(contender.variant, context_.get());
      break;
    case Contender::Kind::kMemory:
      task = MemoryTask::Create(context_.get());
      break;
  }
  if (!task.ok()) return task.status();
  for (const auto& [key, value] : (*task)->facts()) (*done->mutable_facts())[key] = value;
  tasks_[name] = *std::move(task);
  return absl::OkStatus();
}

}  // namespace ringside
