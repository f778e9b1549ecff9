// The rank's side of the bench: does what the parent asks for, one request at a time.
#ifndef RINGSIDE_ALLREDUCE_BENCH_RANK_SERVER_H_
#define RINGSIDE_ALLREDUCE_BENCH_RANK_SERVER_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allreduce/bench/foreign_contenders.h"
#include "allreduce/bench/parent_link.h"
#include "allreduce/bench/rank_task.h"
#include "allreduce_bench_control.pb.h"

namespace ringside {

// Used by the main thread alone.
class RankServer {
 public:
  // UNAVAILABLE: nobody listens under that name.
  static absl::StatusOr<std::unique_ptr<RankServer>> Connect(const std::string& control, int rank);

  // As ParentLink::Serve.
  absl::Status Run();

 private:
  RankServer(std::unique_ptr<ParentLink> link, int rank);
  absl::Status Handle(const RankRequest& request, RankDone* done);
  absl::Status Prepare(const std::string& name, RankDone* done);

  const int rank_;
  std::unique_ptr<RankContext> context_;  // null until the setup has come
  ForeignContenders foreign_;
  std::map<std::string, std::unique_ptr<RankTask>> tasks_;  // by name of the contender
  const std::unique_ptr<ParentLink> link_;  // goes first: what ends later ends quietly
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_RANK_SERVER_H_
