#include "allreduce/bench/foreign_contenders.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "allreduce/bench/sum_task.h"
#include "common/status_macros.h"
#ifdef RINGSIDE_HAS_GLOO
#include "allreduce/baselines/gloo/gloo_all_reducer.h"
#endif
#ifdef RINGSIDE_HAS_MPI
#include "allreduce/baselines/mpi/mpi_all_reducer.h"
#endif

namespace ringside {
namespace {

#if !defined(RINGSIDE_HAS_GLOO) || !defined(RINGSIDE_HAS_MPI)
absl::Status NotInThisBuild(const Contender& contender) {
  return absl::UnimplementedError(absl::StrCat(contender.name, " is not in this build"));
}
#endif

}  // namespace

BuiltBaselines BaselinesOfThisBuild() {
  BuiltBaselines built;
#ifdef RINGSIDE_HAS_GLOO
  built.gloo = true;
#endif
#ifdef RINGSIDE_HAS_MPI
  built.mpi = true;
#endif
  return built;
}

absl::StatusOr<std::unique_ptr<RankTask>> ForeignContenders::Make(const Contender& contender,
                                                                  RankContext* context) {
  return contender.kind == Contender::Kind::kGloo ? MakeGloo(contender, context)
                                                  : MakeMpi(contender, context);
}

#ifdef RINGSIDE_HAS_GLOO
absl::StatusOr<std::unique_ptr<RankTask>> ForeignContenders::MakeGloo(const Contender& contender,
                                                                      RankContext* context) {
  RINGSIDE_ASSIGN_OR_RETURN(Arena * buffer, context->Output());
  GlooAllReducer::Config config;
  config.kind = contender.variant == "ring"    ? GlooAllReducer::Kind::kRing
                : contender.variant == "bcube" ? GlooAllReducer::Kind::kBcube
                                               : GlooAllReducer::Kind::kRingChunked;
  config.rank = context->rank();
  config.size = context->world_size();
  config.registered = buffer->span();
  config.timeout = context->timeout();
  config.exchange = context->exchange();
  SumTask::Config task;
  task.context = context;
  task.output = buffer->span();
  RINGSIDE_ASSIGN_OR_RETURN(task.reducer, GlooAllReducer::Create(config));
  task.facts = {{"library", "Gloo"}, {"algorithm", contender.variant}};
  return std::make_unique<SumTask>(std::move(task));
}
#else
absl::StatusOr<std::unique_ptr<RankTask>> ForeignContenders::MakeGloo(const Contender& contender,
                                                                      RankContext*) {
  return NotInThisBuild(contender);
}
#endif

#ifdef RINGSIDE_HAS_MPI
struct ForeignContenders::Mpi {
  std::unique_ptr<MpiWorld> world;
};

absl::StatusOr<std::unique_ptr<RankTask>> ForeignContenders::MakeMpi(const Contender& contender,
                                                                     RankContext* context) {
  if (mpi_ == nullptr) {
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<MpiWorld> world, MpiWorld::Start());
    mpi_ = std::make_unique<Mpi>(Mpi{std::move(world)});
  }
  if (mpi_->world->size() != context->world_size() || mpi_->world->rank() != context->rank()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "mpirun has made this process rank ", mpi_->world->rank(), " of ", mpi_->world->size(),
        " instead of ", context->rank(), " of ", context->world_size()));
  }
  SumTask::Config task;
  task.context = context;
  if (contender.arenas) {
    RINGSIDE_ASSIGN_OR_RETURN(Arena * input, context->Input());
    RINGSIDE_ASSIGN_OR_RETURN(Arena * output, context->Output());
    task.input = input->span();
    task.output = output->span();
  } else {
    task.input = context->HeapInput();
    task.output = context->HeapOutput();
  }
  task.reducer = std::make_unique<MpiAllReducer>(mpi_->world.get());
  task.facts = {{"library", MpiWorld::LibraryVersion()}};
  return std::make_unique<SumTask>(std::move(task));
}
#else
struct ForeignContenders::Mpi {};

absl::StatusOr<std::unique_ptr<RankTask>> ForeignContenders::MakeMpi(const Contender& contender,
                                                                     RankContext*) {
  return NotInThisBuild(contender);
}
#endif

ForeignContenders::ForeignContenders() = default;
ForeignContenders::~ForeignContenders() = default;

}  // namespace ringside
