// A worker's or shard's side of the bench: does what the parent asks for, one request at a time.
#ifndef RINGSIDE_WORKER_BENCH_MEMBER_SERVER_H_
#define RINGSIDE_WORKER_BENCH_MEMBER_SERVER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allreduce/bench/parent_link.h"
#include "allreduce_bench_control.pb.h"
#include "worker/bench/member_task.h"

namespace ringside {

// Used by the main thread alone.
class MemberServer {
 public:
  // UNAVAILABLE: nobody listens under that name.
  static absl::StatusOr<std::unique_ptr<MemberServer>> Connect(const std::string& control,
                                                               int rank);

  // As ParentLink::Serve.
  absl::Status Run();

 private:
  MemberServer(std::unique_ptr<ParentLink> link, int rank);
  absl::Status Handle(const RankRequest& request, RankDone* done);
  absl::Status SetUp(const RankSetup& setup);
  // Tasks are made when they are first run, for one size at a time.
  absl::StatusOr<MemberTask*> TaskOf(const RankRun& run);
  absl::StatusOr<std::unique_ptr<MemberTask>> MakeTask(const RankRun& run) const;
  absl::Status EndTasks();

  BenchMember member_;
  bool set_up_ = false;
  int64_t elements_ = 0;
  std::map<std::string, std::unique_ptr<MemberTask>> tasks_;  // by name of the contender
  const std::unique_ptr<ParentLink> link_;  // goes first: what ends later ends quietly
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_MEMBER_SERVER_H_
