#include "worker/bench/member_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "allreduce/bench/control_channel.h"
#include "common/logging.h"
#include "common/network/poll.h"
#include "common/status_macros.h"
#include "worker/bench/bench_plan.h"
#include "worker/bench/fold_task.h"
#include "worker/bench/memory_ceiling_task.h"
#include "worker/bench/ps_contenders.h"
#include "worker/bench/raw_task.h"
#include "worker/bench/server_task.h"

namespace ringside {
namespace {

// The parent reads answers as they come.
constexpr absl::Duration kReplyTimeout = absl::Seconds(60);
// By so much the parent's deadline for a turn comes before that of a meeting, because the parent
// knows who has not come.
constexpr absl::Duration kParentKnowsMore = absl::Seconds(15);

}  // namespace

absl::StatusOr<std::unique_ptr<MemberServer>> MemberServer::Connect(const std::string& control,
                                                                    int rank) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Socket> socket, Socket::ConnectLocal(control));
  auto server = absl::WrapUnique(new MemberServer(std::move(socket), rank));
  RankReply hello;
  hello.mutable_hello()->set_rank(rank);
  hello.mutable_hello()->set_pid(getpid());
  RINGSIDE_RETURN_IF_ERROR(server->Reply(hello));
  return server;
}

MemberServer::MemberServer(std::unique_ptr<Socket> socket, int rank) : socket_(std::move(socket)) {
  member_.rank = rank;
  member_.exchange = [this](const std::string& mine) { return Exchange(mine); };
  watcher_ = std::thread([this] { EndWithParent(); });
}

MemberServer::~MemberServer() {
  finished_ = true;
  shutdown(socket_->fd(), SHUT_RDWR);  // wakes the watcher
  watcher_.join();
}

void MemberServer::EndWithParent() {
  pollfd hangup = {socket_->fd(), POLLRDHUP, 0};
  const absl::StatusOr<bool> hung_up =
      PollUntil(absl::MakeSpan(&hangup, 1), absl::InfiniteFuture());
  static_cast<void>(hung_up);
  if (!finished_) _exit(1);
}

absl::Status MemberServer::Reply(const RankReply& reply) {
  return WriteControlMessage(reply, socket_.get(), absl::Now() + kReplyTimeout);
}

absl::StatusOr<std::vector<std::string>> MemberServer::Exchange(const std::string& mine) {
  RankReply reply;
  reply.set_exchange(mine);
  RINGSIDE_RETURN_IF_ERROR(Reply(reply));
  RankRequest request;
  RINGSIDE_RETURN_IF_ERROR(ReadControlMessage(socket_.get(), &request,
                                              absl::Now() + member_.timeout + kParentKnowsMore));
  if (request.exchanged().entries_size() != member_.workers + member_.shards) {
    return absl::InternalError("the parent did not answer an exchange");
  }
  return std::vector<std::string>(request.exchanged().entries().begin(),
                                  request.exchanged().entries().end());
}

absl::Status MemberServer::Run() {
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

absl::Status MemberServer::Handle(const RankRequest& request, RankDone* done) {
  if (request.has_finish()) return EndTasks();
  if (request.has_setup()) return SetUp(request.setup());
  if (!set_up_) return absl::FailedPreconditionError("no setup yet");
  if (!request.has_run()) return absl::InvalidArgumentError("a request that is none of this bench");
  RINGSIDE_ASSIGN_OR_RETURN(MemberTask * task, TaskOf(request.run()));
  return task->Run(request.run(), done);
}

absl::Status MemberServer::SetUp(const RankSetup& setup) {
  member_.shards = setup.shards();
  member_.workers = setup.world_size() - setup.shards();
  member_.timeout = absl::Seconds(setup.timeout_s());
  set_up_ = true;
  SetLogName(member_.is_worker() ? absl::StrCat("worker ", member_.rank)
                                 : absl::StrCat("shard ", member_.shard()));
  return absl::OkStatus();
}

absl::StatusOr<MemberTask*> MemberServer::TaskOf(const RankRun& run) {
  if (run.elements() != elements_) {
    RINGSIDE_RETURN_IF_ERROR(EndTasks());
    elements_ = run.elements();
  }
  const auto found = tasks_.find(run.contender());
  if (found != tasks_.end()) return found->second.get();
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<MemberTask> task, MakeTask(run));
  return (tasks_[run.contender()] = std::move(task)).get();
}

absl::StatusOr<std::unique_ptr<MemberTask>> MemberServer::MakeTask(const RankRun& run) const {
  RINGSIDE_ASSIGN_OR_RETURN(const PsContender contender, FindPsContender(run.contender()));
  RINGSIDE_ASSIGN_OR_RETURN(const BenchPlan plan,
                            MakeBenchPlan(run.elements(), member_.workers, member_.shards));
  switch (contender.kind) {
    case PsContender::Kind::kServer:
      return MakeServerTask(&member_, contender.link, plan);
    case PsContender::Kind::kRawCallback:
    case PsContender::Kind::kRawSync:
      return MakeRawTask(&member_, contender, plan);
    case PsContender::Kind::kMemory:
      return MakeMemoryCeilingTask(&member_, plan);
    case PsContender::Kind::kFold:
      return MakeFoldTask(&member_, plan);
    case PsContender::Kind::kAdd:
      return MakeAddTask(&member_, plan);
  }
  return absl::InternalError("a contender of no kind");
}

// All members at once.
absl::Status MemberServer::EndTasks() {
  if (tasks_.empty()) return absl::OkStatus();
  for (const auto& [name, task] : tasks_) RINGSIDE_RETURN_IF_ERROR(task->HangUp());
  RINGSIDE_RETURN_IF_ERROR(member_.Meet());
  tasks_.clear();
  return absl::OkStatus();
}

}  // namespace ringside
