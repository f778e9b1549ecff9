// Makes the synchronizer of strategy ring: an all-reduce among the workers, over the links and with
// the schedule that --ring_link, --schedule and --wire_dtype ask for.
#ifndef RINGSIDE_WORKER_RING_FACTORY_H_
#define RINGSIDE_WORKER_RING_FACTORY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "allreduce/grpc_ring_link.h"
#include "allreduce/reducer_factory.h"
#include "worker/synchronizer_factory.h"

namespace ringside {

// Thread-compatible.
class RingFactory final : public SynchronizerFactory {
 public:
  // Opens the ports that neighbours connect to. Errors as those of SynchronizerFactory::Create.
  static absl::StatusOr<std::unique_ptr<SynchronizerFactory>> Open(const WorkerConfig& config);

  explicit RingFactory(const WorkerConfig& config) : config_(config) {}

  void Announce(Member* member) const override;
  // Facts: "schedule" (ring or direct), "left_link" and "right_link" (tcp, uds, shm, grpc),
  // "ring_congestion_control" where a link is TCP, "cpu_kernels".
  absl::StatusOr<Product> Make(const Meeting& meeting) override;

 private:
  absl::StatusOr<Product> MakeAlone(const Meeting& meeting);  // a ring of one
  // Without addresses and arenas.
  absl::StatusOr<ReducerConfig> ConfigOf(const Meeting& meeting, const Group& group) const;
  absl::StatusOr<MadeReducer> MakeOverPorts(const Meeting& meeting, ReducerConfig config,
                                            std::vector<const Arena*> arenas);
  absl::StatusOr<MadeReducer> MakeOverGrpc(const Meeting& meeting, const ReducerConfig& config);

  const WorkerConfig config_;
  // One of them for a ring of several, and none once connected.
  std::unique_ptr<DataPorts> ports_;
  std::unique_ptr<GrpcRingListener> grpc_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_RING_FACTORY_H_
