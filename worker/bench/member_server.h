// A worker's or shard's side of the bench: does what the parent asks for, one request at a time.
#ifndef RINGSIDE_WORKER_BENCH_MEMBER_SERVER_H_
#define RINGSIDE_WORKER_BENCH_MEMBER_SERVER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allreduce_bench_control.pb.h"
#include "common/network/socket.h"
#include "worker/bench/member_task.h"

namespace ringside {

// Used by the main thread alone. A second thread watches the connection, so that the process ends
// with the parent even from within a call that does not return.
class MemberServer {
 public:
  // UNAVAILABLE: nobody listens under that name.
  static absl::StatusOr<std::unique_ptr<MemberServer>> Connect(const std::string& control,
                                                               int rank);
  ~MemberServer();

  // Blocks in read between requests. OK when the parent says that it is done. A contender's error
  // is an answer, not an end. UNAVAILABLE: the parent is gone.
  absl::Status Run();

 private:
  MemberServer(std::unique_ptr<Socket> socket, int rank);
  void EndWithParent();
  absl::Status Reply(const RankReply& reply);
  absl::StatusOr<std::vector<std::string>> Exchange(const std::string& mine);
  absl::Status Handle(const RankRequest& request, RankDone* done);
  absl::Status SetUp(const RankSetup& setup);
  // Tasks are made when they are first run, for one size at a time.
  absl::StatusOr<MemberTask*> TaskOf(const RankRun& run);
  absl::StatusOr<std::unique_ptr<MemberTask>> MakeTask(const RankRun& run) const;
  absl::Status EndTasks();

  const std::unique_ptr<Socket> socket_;
  BenchMember member_;
  std::atomic<bool> finished_{false};
  bool set_up_ = false;
  int64_t elements_ = 0;
  std::map<std::string, std::unique_ptr<MemberTask>> tasks_;  // by name of the contender
  std::thread watcher_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_MEMBER_SERVER_H_
