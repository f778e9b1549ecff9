#include "worker/bench/member_server.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "worker/bench/bench_plan.h"
#include "worker/bench/fold_task.h"
#include "worker/bench/memory_ceiling_task.h"
#include "worker/bench/ps_contenders.h"
#include "worker/bench/raw_task.h"
#include "worker/bench/server_task.h"

namespace ringside {
namespace {

// By so much the parent's deadline for a turn comes before that of a meeting, because the parent
// knows who has not come.
constexpr absl::Duration kParentKnowsMore = absl::Seconds(15);

}  // namespace

absl::StatusOr<std::unique_ptr<MemberServer>> MemberServer::Connect(const std::string& control,
                                                                    int rank) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<ParentLink> link, ParentLink::Connect(control, rank));
  return absl::WrapUnique(new MemberServer(std::move(link), rank));
}

MemberServer::MemberServer(std::unique_ptr<ParentLink> link, int rank) : link_(std::move(link)) {
  member_.rank = rank;
  member_.exchange = [this](const std::string& mine) {
    return link_->Exchange(mine, member_.workers + member_.shards,
                           member_.timeout + kParentKnowsMore);
  };
}

absl::Status MemberServer::Run() {
  return link_->Serve(
      [this](const RankRequest& request, RankDone* done) { return Handle(request, done); });
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
