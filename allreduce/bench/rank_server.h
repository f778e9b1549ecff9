// The rank's side of the bench: does what the parent asks for, one request at a time.
#ifndef RINGSIDE_ALLREDUCE_BENCH_RANK_SERVER_H_
#define RINGSIDE_ALLREDUCE_BENCH_RANK_SERVER_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allreduce/bench/foreign_contenders.h"
#include "allreduce/bench/rank_task.h"
#include "allreduce_bench_control.pb.h"
#include "common/network/socket.h"

namespace ringside {

// Used by the main thread alone. A second thread watches the connection, so that the process ends
// with the parent even from within a library that does not return.
class RankServer {
 public:
  // UNAVAILABLE: nobody listens under that name.
  static absl::StatusOr<std::unique_ptr<RankServer>> Connect(const std::string& control, int rank);
  ~RankServer();

  // Blocks in read between requests. OK when the parent says that it is done. A contender's error
  // is an answer, not an end. UNAVAILABLE: the parent is gone.
  absl::Status Run();

 private:
  RankServer(std::unique_ptr<Socket> socket, int rank);
  void EndWithParent();
  absl::Status Reply(const RankReply& reply);
  absl::StatusOr<std::vector<std::string>> Exchange(const std::string& mine);
  absl::Status Handle(const RankRequest& request, RankDone* done);
  absl::Status Prepare(const std::string& name, RankDone* done);

  const std::unique_ptr<Socket> socket_;
  const int rank_;
  std::atomic<bool> finished_{false};
  std::unique_ptr<RankContext> context_;  // null until the setup has come
  ForeignContenders foreign_;
  std::map<std::string, std::unique_ptr<RankTask>> tasks_;  // by name of the contender
  std::thread watcher_;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_RANK_SERVER_H_
