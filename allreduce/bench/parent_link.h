// The connection of a bench's process to its parent: says hello, answers one request after the
// other, and meets the other processes by way of the parent.
#ifndef RINGSIDE_ALLREDUCE_BENCH_PARENT_LINK_H_
#define RINGSIDE_ALLREDUCE_BENCH_PARENT_LINK_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "allreduce_bench_control.pb.h"
#include "common/network/socket.h"

namespace ringside {

// Used by the main thread alone. A second thread watches the connection, so that the process ends
// with the parent even from within a call that does not return.
class ParentLink {
 public:
  using Handler = std::function<absl::Status(const RankRequest& request, RankDone* done)>;

  // UNAVAILABLE: nobody listens under that name.
  static absl::StatusOr<std::unique_ptr<ParentLink>> Connect(const std::string& control, int rank);
  ~ParentLink();

  // Blocks in read between requests. OK when the parent says that it is done. The handler's error
  // is an answer, not an end. UNAVAILABLE: the parent is gone.
  absl::Status Serve(const Handler& handle);
  // Blocks until all `size` processes have given their entry, and returns them by rank. INTERNAL:
  // the parent answers something else. Called by the handler.
  absl::StatusOr<std::vector<std::string>> Exchange(const std::string& mine, int size,
                                                    absl::Duration timeout);

 private:
  explicit ParentLink(std::unique_ptr<Socket> socket);
  void EndWithParent();
  absl::Status Reply(const RankReply& reply);

  const std::unique_ptr<Socket> socket_;
  std::atomic<bool> finished_{false};
  std::thread watcher_;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_PARENT_LINK_H_
