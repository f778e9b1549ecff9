// The strategy `ps` with the update on the workers: every bucket is pushed to the shards of a
// parameter server, which fold it in law order and send the sums back. A worker sums nothing
// itself. Contract and thread-safety: gradient_summer.h; errors: ps_exchange.h.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_PS_SUMMER_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_PS_SUMMER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/traffic.h"
#include "worker/synchronizers/gradient_summer.h"
#include "worker/synchronizers/ps_exchange.h"

namespace ringside {

class PsSummer final : public GradientSummer {
 public:
  using Config = PsExchange::Config;

  // As PsExchange::Create. The policy must be that of plain sync.
  static absl::StatusOr<std::unique_ptr<PsSummer>> Create(Config config);
  explicit PsSummer(std::unique_ptr<PsExchange> exchange) : exchange_(std::move(exchange)) {}

  // The transports in force, e.g. "shm".
  std::string links() const { return exchange_->links_in_force(); }

  void Submit(const GradientBucket& bucket) override { exchange_->Submit(bucket); }
  absl::StatusOr<absl::Span<const float>> Finish(int64_t step) override;
  CommunicationTimes communication() const override { return exchange_->communication(); }
  void Abort(absl::Status cause) override { exchange_->Abort(std::move(cause)); }
  // The shards keep no parameters that could go back.
  absl::Status Shutdown() override { return exchange_->Shutdown().status(); }
  TrafficCounters traffic() const override { return exchange_->traffic(); }
  TrafficCounters ExpectedTraffic(int64_t exchanges) const override {
    return exchange_->ExpectedTraffic(exchanges);
  }

 private:
  const std::unique_ptr<PsExchange> exchange_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_PS_SUMMER_H_
