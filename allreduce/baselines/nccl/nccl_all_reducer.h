// NCCL's all-reduce on one GPU per rank, behind our interface: an opponent to measure against.
#ifndef RINGSIDE_ALLREDUCE_BASELINES_NCCL_NCCL_ALL_REDUCER_H_
#define RINGSIDE_ALLREDUCE_BASELINES_NCCL_NCCL_ALL_REDUCER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "allreduce/all_reducer.h"
#include "allreduce/baselines/nccl/cuda_nccl.h"
#include "common/group.h"
#include "common/mutex.h"

namespace ringside {

// FAILED_PRECONDITION, in one line that names --device: no usable GPU, or none of that number.
absl::Status CheckCudaDevice(CudaNccl* cuda, int device);

// Gradients come from the host and sums go back there: every sum is copied to pinned memory, to the
// GPU, summed, and copied back. NCCL adds in an order of its own, so the bits are not those of our
// law, though all ranks get the same. It counts no bytes: traffic() is zero.
class NcclAllReducer final : public AllReducer {
 public:
  struct Config {
    Group group;
    int device = 0;            // number of the GPU; one rank per GPU
    std::string unique_id;     // one for the group, from CudaNccl::NewUniqueId of one of its ranks
    int64_t max_elements = 0;  // of one sum
    absl::Duration step_timeout = absl::Seconds(60);  // for one Sum
    absl::Duration connect_timeout = absl::Seconds(60);
  };

  // Blocks until all ranks are connected. INVALID_ARGUMENT: an index outside of the group, a
  // timeout or a length that is not positive. FAILED_PRECONDITION: no such GPU. DEADLINE_EXCEEDED
  // or UNAVAILABLE, with all others as suspects: not all ranks came in time, or NCCL says that
  // another rank is at fault. INTERNAL: an error of CUDA or NCCL, in its own words.
  static absl::StatusOr<std::unique_ptr<NcclAllReducer>> Create(Config config,
                                                                std::unique_ptr<CudaNccl> cuda);
  ~NcclAllReducer() override;

  // As AllReducer has it, but that NCCL checks no lengths and names no rank. INVALID_ARGUMENT: more
  // than max_elements. An error says step and bucket, and ends the communicator: the ranks that
  // wait for this one would not hear of it otherwise.
  absl::Status Sum(CollectiveId id, absl::Span<const float> in, absl::Span<float> out) override;
  void Abort(absl::Status cause) override;
  TrafficCounters traffic() const override { return {}; }

  // What sums, for the results; constant after Create.
  const std::string& description() const { return description_; }

 private:
  NcclAllReducer(Config config, std::unique_ptr<CudaNccl> cuda);

  absl::Status Connect();
  absl::Status Run(absl::Span<const float> in, absl::Span<float> out);
  // Blocks until `done` says so, polling for asynchronous errors and for Abort meanwhile.
  absl::Status Await(const std::function<absl::StatusOr<bool>()>& done, absl::Time deadline,
                     absl::string_view what) ABSL_LOCKS_EXCLUDED(mutex_);
  // Puts the place before the message, and attaches the other ranks where one of them is at fault.
  absl::Status Explain(const absl::Status& status, absl::string_view place) const;
  absl::Status FirstError() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the first error, which is `status` unless there was one before.
  absl::Status Fail(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);

  const Config config_;
  // Used by Create, the thread that sums, and the destructor, one after the other.
  const std::unique_ptr<CudaNccl> cuda_;
  absl::Span<float> staging_;  // pinned
  std::string description_;

  Mutex mutex_;
  CondVar failed_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BASELINES_NCCL_NCCL_ALL_REDUCER_H_
