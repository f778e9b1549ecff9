#include "allreduce/bench/rank_server.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "allreduce/bench/contender_catalog.h"
#include "allreduce/bench/memory_task.h"
#include "allreduce/bench/own_contenders.h"
#include "allreduce/bench/raw_exchange_task.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<RankServer>> RankServer::Connect(const std::string& control,
                                                                int rank) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<ParentLink> link, ParentLink::Connect(control, rank));
  return absl::WrapUnique(new RankServer(std::move(link), rank));
}

RankServer::RankServer(std::unique_ptr<ParentLink> link, int rank)
    : rank_(rank), link_(std::move(link)) {}

absl::Status RankServer::Run() {
  return link_->Serve(
      [this](const RankRequest& request, RankDone* done) { return Handle(request, done); });
}

absl::Status RankServer::Handle(const RankRequest& request, RankDone* done) {
  if (request.has_finish()) return absl::OkStatus();
  if (request.has_setup()) {
    context_ =
        std::make_unique<RankContext>(rank_, request.setup(), [this](const std::string& mine) {
          return link_->Exchange(mine, context_->world_size(), context_->timeout());
        });
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
