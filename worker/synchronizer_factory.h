// Makes the synchronizer that --strategy names; the only switch on it.
//
// In two phases, because what a process listens on must be open before it joins, and whom it talks
// to is known after. Thread-compatible.
#ifndef RINGSIDE_WORKER_SYNCHRONIZER_FACTORY_H_
#define RINGSIDE_WORKER_SYNCHRONIZER_FACTORY_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/bucket_plan.h"
#include "coordinator.pb.h"
#include "worker/synchronizers/gradient_synchronizer.h"
#include "worker/worker_config.h"

namespace ringside {

class SynchronizerFactory {
 public:
  struct Product {
    std::unique_ptr<GradientSynchronizer> synchronizer;
    std::map<std::string, std::string> facts;  // settings in force, for the results
  };

  // Opens what must be listened on. INVALID_ARGUMENT: an unknown strategy, or network options that
  // name no address. UNAVAILABLE: no port is free.
  static absl::StatusOr<std::unique_ptr<SynchronizerFactory>> Create(const WorkerConfig& config);
  virtual ~SynchronizerFactory() = default;

  // What others connect to, host:port; empty where nobody connects to a worker.
  virtual std::string data_endpoint() const = 0;

  // Called once. Blocks until the links are up. `membership` of a job that is this process alone
  // has nobody in it. Errors are those of the links, with suspects.
  virtual absl::StatusOr<Product> Make(const Membership& membership, const BucketPlan& plan) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZER_FACTORY_H_
