// A GradientSynchronizer whose parameters come from the parameter server, in all modes that update
// them there. Errors: ps_exchange.h.
//
// What the shards send is collected apart and copied into the parameters by Finish, because
// backward may still read them while the first results arrive.
//
// No process has the whole sum, so nobody could see a NaN in it, and a shard would spread it over
// the parameters. Therefore each worker checks its own buckets before they leave, while they are
// still in the cache that backward wrote them to: a bucket with a NaN or infinity is not sent, and
// ends this worker and with it the job. What is not seen is a sum of finite gradients that
// overflows on a shard: the next backward pass has the NaN then.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_SERVER_UPDATE_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_SERVER_UPDATE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/bucket_plan.h"
#include "common/traffic.h"
#include "worker/synchronizers/gradient_synchronizer.h"
#include "worker/synchronizers/initial_broadcast.h"
#include "worker/synchronizers/ps_exchange.h"

namespace ringside {

class ServerUpdate final : public GradientSynchronizer {
 public:
  ServerUpdate(BucketPlan plan, int rank, std::unique_ptr<PsExchange> exchange);

  // INVALID_ARGUMENT: the length is not the plan's. DATA_LOSS: worker 0's are not finite.
  absl::Status Start(absl::Span<float> parameters) override;
  // A gradient that is not finite makes Finish fail with DATA_LOSS.
  void Submit(const GradientBucket& bucket) override;
  absl::StatusOr<StepStats> Finish(int64_t step) override;
  void Abort(absl::Status cause) override { exchange_->Abort(std::move(cause)); }
  absl::StatusOr<absl::optional<int64_t>> Shutdown() override;
  TrafficCounters traffic() const override { return exchange_->traffic(); }
  TrafficCounters ExpectedTraffic(int64_t steps) const override {
    return exchange_->ExpectedTraffic(steps + 1);
  }

 private:
  void TakeResults();

  const BucketPlan plan_;
  const int rank_;
  InitialBroadcast broadcast_;  // kept where Start fails, since a link may still read it
  const std::unique_ptr<PsExchange> exchange_;

  // Of the calling thread.
  absl::Span<float> parameters_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_SERVER_UPDATE_H_
