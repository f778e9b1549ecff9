// A worker's side of every mode of the parameter server: buckets are pushed to the shards, and what
// the shards answer, sums or parameters, is collected in arena order.
//
// One stream on a connection of its own to each shard. Submit queues the units of a bucket on all
// streams, straight out of the caller's memory; results come back unit by unit, while later buckets
// are still pushed, and are copied into this object's arena. When Finish returns OK, the result of
// every unit has been received, and a shard only has one once it has received this worker's whole
// contribution: though gRPC may still hold references to the lent gradients, nobody reads them any
// more. After a failed Finish that is not so: then the gradients must stay until this object is
// destroyed.
//
// Where a lost shard can be replaced, a broken stream is not the end: the thread that waits in
// Finish meets all others, connects anew, and gives the shards what they need to go on from the
// step that all agree on (common/recovery_plan.h).
//
// Submit, Finish and Shutdown come from one thread; Abort and traffic from any. The first error is
// sticky.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_PS_EXCHANGE_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_PS_EXCHANGE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "common/arena.h"
#include "common/bucket_plan.h"
#include "common/frame_payload.h"
#include "common/group.h"
#include "common/mutex.h"
#include "common/network/endpoint.h"
#include "common/ps_policy.h"
#include "common/trace/trace_buffer.h"
#include "common/traffic.h"
#include "common/unit_table.h"
#include "worker/synchronizers/communication_clock.h"
#include "worker/synchronizers/exchange_ledger.h"
#include "worker/synchronizers/gradient_synchronizer.h"
#include "worker/synchronizers/shard_links.h"
#include "worker/synchronizers/shard_recovery.h"
#include "worker/synchronizers/training_end.h"

namespace ringside {

class PsExchange final : private ShardLinks::Listener {
 public:
  struct Config {
    Group group;
    BucketPlan plan;
    std::vector<ShardAddress> shards = {};  // by number
    std::string token = {};
    int64_t frame_bytes = kMaxFramePayloadBytes;
    absl::Duration step_timeout = absl::Seconds(60);
    absl::Duration connect_timeout = absl::Seconds(60);
    std::string ps_link = "auto";  // shard_link.h
    GrpcTuning tuning = {};
    // Where gradients that are submitted lie, so that shards can read them there; others are sent.
    // Outlives this object. Null: they all are.
    const Arena* gradients = nullptr;
    PsPolicy policy = {};
    int64_t first_step = 0;  // that will be submitted: the broadcast of the parameters
    // How long the others may take to end their training after this worker has.
    absl::Duration finish_timeout = absl::Seconds(60);
    std::shared_ptr<ShardRecovery> recovery = nullptr;  // null: a lost shard is the end
    TraceBuffer* trace = nullptr;  // gets what travels; borrowed; null: nothing does
  };

  // Blocks until every shard has admitted this worker. INVALID_ARGUMENT: see ShardLayout::Validate;
  // RESOURCE_EXHAUSTED: no memory for the results; otherwise the errors of ShardLinks.
  static absl::StatusOr<std::unique_ptr<PsExchange>> Create(Config config);
  ~PsExchange() override;

  // Lends one bucket until Finish(step) returns. Does not block; errors show in Finish.
  void Submit(const GradientBucket& bucket);
  // Blocks until every result of `step` has come, and returns the step that all of them are of: a
  // later one where this worker was late in backup mode, an earlier one where the parameters of a
  // lost shard went back to a snapshot. DEADLINE_EXCEEDED: no answer within
  // step_timeout; names the shards, the bucket and the bytes that are missing, or, when a shard
  // says so, the workers that it waits for. UNAVAILABLE: the stream of a shard broke, or the shard
  // lost a worker. FAILED_PRECONDITION or INVALID_ARGUMENT: buckets were not submitted as the plan
  // has them. Other codes: a shard refused a frame, sent a wrong one, or Abort was called.
  absl::StatusOr<int64_t> Finish(int64_t step);
  // The results of Finish, in arena order, until the next Submit.
  absl::Span<const float> results() const { return results_->span(); }
  // Of the exchange that Finish returned last.
  CommunicationTimes communication() const { return communication_; }

  // Makes a running and every later Finish return `cause`; what it waits for is given up.
  void Abort(absl::Status cause);
  // Tells the shards that this worker has no more steps, waits until all workers have said so, and
  // ends the streams. In asynchronous modes the results are then the final parameters, the same for
  // all workers. Where the parameters of a shard that was lost meanwhile went back to a snapshot,
  // nothing is ended: returns the step that the results are of, and training goes on from there.
  // DEADLINE_EXCEEDED: names the shards that did not end their streams.
  absl::StatusOr<absl::optional<int64_t>> Shutdown();

  // The transports in force, e.g. "shm".
  std::string links_in_force() const { return links()->in_force(); }
  TrafficCounters traffic() const;
  // By formula: pushes and results of the whole arena, and what this worker has pulled.
  TrafficCounters ExpectedTraffic(int64_t exchanges) const;

 private:
  PsExchange(Config config, std::unique_ptr<Arena> results);

  absl::Status SubmitOrFail(const GradientBucket& bucket);
  // Of a bucket, on all shards.
  int64_t Units(int bucket) const;
  FrameHeader Header(FrameKind kind, int64_t step) const;
  absl::Status AwaitResults(absl::Time deadline, absl::Duration patience)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Pulls again from the shards whose results are older than others', until all are of one step.
  absl::StatusOr<int64_t> Align(absl::Time deadline);
  // A frame that is a header alone.
  void SendWord(int shard, FrameKind kind, int64_t step);
  absl::StatusOr<int64_t> FinishOnce(int64_t step);
  absl::Status ShutdownOnce();
  // Until all shards have said that nobody has more steps.
  absl::Status AwaitTrainingEnd(absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<ShardLinks> links() const;
  // Returns early with the cause where Abort is called, or another shard is replaced meanwhile.
  absl::Status Connect(const std::vector<ShardAddress>& shards, uint32_t recovery);
  absl::Status ConnectLinks(ShardLinks::Config config);
  void Outdate(const absl::Status& why);
  absl::Status Interruption() const;
  ShardStream::Frame PushOf(const GradientBucket& bucket, int shard, int unit) const;
  // After `failure`: connects anew and brings everybody up to date. Returns the step that the
  // results went back to, if they did.
  absl::StatusOr<absl::optional<int64_t>> Recover(absl::Status failure);
  absl::StatusOr<absl::optional<int64_t>> Rebuild(const ShardRecovery::Meeting& meeting);
  absl::StatusOr<int64_t> GoBack(const std::vector<std::string>& snapshots);
  absl::Status RestoreSums(const std::vector<std::string>& workers);
  std::string OwnState() const;

  // Copies one result to its place. The error is the shard's fault.
  absl::Status TakeFrame(int shard, const ReceivedFrame& frame);
  absl::Status TakeResult(int shard, const ReceivedFrame& frame);
  void Fail(absl::Status status);
  absl::Status TimedOut(absl::Duration patience) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void OnShardFrame(int shard, ReceivedFrame frame) override;
  void OnShardEnded(int shard, const absl::Status& how) override;

  // Constant after construction.
  const Config config_;
  const ShardLayout layout_;
  const std::vector<UnitTable> tables_;  // by shard
  const std::unique_ptr<Arena> results_;

  // Of the thread that calls Finish.
  CommunicationTimes communication_;
  std::vector<GradientBucket> lent_;  // by bucket, of the open step
  std::vector<ShardStream::Frame> frames_;

  mutable Mutex mutex_;
  CondVar changed_;
  // Null before the first and between two; perhaps still connecting.
  std::shared_ptr<ShardLinks> links_ ABSL_GUARDED_BY(mutex_);
  TrafficCounters traffic_before_ ABSL_GUARDED_BY(mutex_);  // of links that were lost
  absl::Status aborted_ ABSL_GUARDED_BY(mutex_);            // never forgotten
  absl::Status outdated_ ABSL_GUARDED_BY(mutex_);           // why it is of no use to connect
  ExchangeLedger ledger_ ABSL_GUARDED_BY(mutex_);
  CommunicationClock clock_ ABSL_GUARDED_BY(mutex_);  // its parts are units
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);      // the first; sticky
  TrainingEnd end_ ABSL_GUARDED_BY(mutex_);
  int copying_ ABSL_GUARDED_BY(mutex_) = 0;  // results that are being copied to their place
  std::vector<int64_t> pulls_ ABSL_GUARDED_BY(mutex_);  // by shard
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_PS_EXCHANGE_H_
