// One contender inside one process of the bench, a worker or a shard.
#ifndef RINGSIDE_WORKER_BENCH_MEMBER_TASK_H_
#define RINGSIDE_WORKER_BENCH_MEMBER_TASK_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "allreduce/baselines/address_exchange.h"
#include "allreduce_bench_control.pb.h"

namespace ringside {

// Who this process is, and how it meets the others.
struct BenchMember {
  int rank = 0;  // workers first, then shards
  int workers = 1;
  int shards = 1;
  absl::Duration timeout = absl::Seconds(60);  // of every wait
  AddressExchange exchange;

  bool is_worker() const { return rank < workers; }
  // REQUIRES: is a shard.
  int shard() const { return rank - workers; }
  // Blocks until all members are here.
  absl::Status Meet() const { return exchange("").status(); }
};

// Used by one thread.
class MemberTask {
 public:
  virtual ~MemberTask() = default;

  // All members at once: verification, warm-up, iterations, verification. Fills in everything of
  // `done` but the status.
  virtual absl::Status Run(const RankRun& run, RankDone* done) = 0;

  // A worker ends its streams in good order, before any shard destroys its task.
  virtual absl::Status HangUp() { return absl::OkStatus(); }
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_MEMBER_TASK_H_
