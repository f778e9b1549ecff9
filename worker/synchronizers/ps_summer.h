// The strategy `ps`: every bucket is pushed to the shards of a parameter server, which fold it in
// law order and send the sums back. A worker sums nothing itself.
//
// One stream on a connection of its own to each shard. Submit queues the units of a bucket on all
// streams, straight out of the caller's memory, or where a shard reads that memory itself, no more
// than where they lie; sums come back unit by unit, while later buckets are still pushed, and are
// copied into this object's arena. When Finish returns OK, the sum of
// every unit has been received, and a shard only has a sum once it has received this worker's whole
// contribution: though gRPC may still hold references to the lent gradients, nobody reads them any
// more, nor where they lie. After a failed Finish that is not so: then the gradients must stay
// until this object is destroyed.
//
// Thread-safety and contract: gradient_summer.h.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_PS_SUMMER_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_PS_SUMMER_H_

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
#include "common/group.h"
#include "common/mutex.h"
#include "common/network/grpc_tuning.h"
#include "common/shared_memory/shared_arenas.h"
#include "common/traffic.h"
#include "common/unit_table.h"
#include "worker/synchronizers/communication_clock.h"
#include "worker/synchronizers/exchange_ledger.h"
#include "worker/synchronizers/gradient_summer.h"
#include "worker/synchronizers/shard_link.h"
#include "worker/synchronizers/shard_stream.h"

namespace ringside {

class PsSummer final : public GradientSummer, private ShardStream::Listener {
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
  };

  // Blocks until every shard has admitted this worker. INVALID_ARGUMENT: see ShardLayout::Validate;
  // DEADLINE_EXCEEDED: names the shards that did not answer within connect_timeout; UNAVAILABLE:
  // the connection broke; UNAUTHENTICATED or FAILED_PRECONDITION: a shard refuses, and says why;
  // RESOURCE_EXHAUSTED: no memory for the sums; and those of OpenShardLink.
  static absl::StatusOr<std::unique_ptr<PsSummer>> Create(Config config);
  // Gives up whatever is under way; waits until gRPC has let go of all memory.
  ~PsSummer() override;

  // The transports in force, e.g. "shm".
  const std::string& links() const { return links_; }

  void Submit(const GradientBucket& bucket) override;
  // DEADLINE_EXCEEDED: no answer within step_timeout; names the shards, the bucket and the bytes
  // that are missing, or, when a shard says so, the workers that it waits for. UNAVAILABLE: the
  // stream of a shard broke, or the shard lost a worker. FAILED_PRECONDITION or INVALID_ARGUMENT:
  // buckets were not submitted as the plan has them. Other codes: a shard refused a frame, sent a
  // wrong one, or Abort was called.
  absl::StatusOr<absl::Span<const float>> Finish(int64_t step) override;
  CommunicationTimes communication() const override { return communication_; }
  void Abort(absl::Status cause) override;
  // DEADLINE_EXCEEDED: names the shards that did not end their streams within step_timeout.
  absl::Status Shutdown() override;
  TrafficCounters traffic() const override;
  TrafficCounters ExpectedTraffic(int64_t exchanges) const override;

 private:
  PsSummer(Config config, SharedArenas shared, const std::vector<ShardLink>& links,
           std::unique_ptr<Arena> sums);

  absl::Status Connect(absl::Time deadline);
  absl::Status SubmitOrFail(const GradientBucket& bucket);
  // Of a bucket, on all shards.
  int64_t Units(int bucket) const;
  // Copies one result to its place. The error is the shard's fault.
  absl::Status TakeResult(int shard, const ReceivedFrame& frame);
  void Fail(absl::Status status);
  void CancelAll();
  absl::Status StepTimedOut(int64_t step) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void OnShardConnected(int shard) override;
  void OnShardFrame(int shard, ReceivedFrame frame) override;
  void OnShardEnded(int shard, const absl::Status& how) override;

  // Constant after construction.
  const Config config_;
  const ShardLayout layout_;
  const std::vector<UnitTable> tables_;  // by shard
  const SharedArenas shared_;            // what shards of this host have mapped
  const std::string links_;
  const std::unique_ptr<Arena> sums_;
  // Outlives this object if gRPC does not give everything back in time.
  std::unique_ptr<LentSlices> lent_;
  std::vector<std::unique_ptr<ShardStream>> streams_;  // by shard

  CommunicationTimes communication_;  // of the thread that calls Finish

  mutable Mutex mutex_;
  CondVar changed_;
  ExchangeLedger ledger_ ABSL_GUARDED_BY(mutex_);
  CommunicationClock clock_ ABSL_GUARDED_BY(mutex_);     // its parts are units
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);         // the first; sticky
  std::vector<bool> connected_ ABSL_GUARDED_BY(mutex_);  // by shard
  std::vector<bool> ended_ ABSL_GUARDED_BY(mutex_);      // by shard
  bool shutting_down_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_PS_SUMMER_H_
