// What the NCCL baseline needs of the CUDA runtime and of NCCL: one stream, one event, one pair of
// buffers and one communicator on one GPU. Narrow, so that the logic above it can be tested against
// a fake.
#ifndef RINGSIDE_ALLREDUCE_BASELINES_NCCL_CUDA_NCCL_H_
#define RINGSIDE_ALLREDUCE_BASELINES_NCCL_CUDA_NCCL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace ringside {

// Thread-compatible. No call waits for another rank or for the GPU. Errors have the library's own
// text; UNAVAILABLE: NCCL says that another rank is at fault; INTERNAL: all else.
class CudaNccl {
 public:
  // Aborts a communicator that has not been destroyed, and frees all.
  virtual ~CudaNccl() = default;

  // FAILED_PRECONDITION: no driver or no GPU.
  virtual absl::StatusOr<int> CountDevices() = 0;
  // CUDA keeps the choice for each thread, so every thread must choose before the calls below.
  virtual absl::Status SelectDevice(int device) = 0;
  // "NCCL 2.28.9 on NVIDIA H200", of the selected device.
  virtual std::string description() = 0;
  // Memory of so many elements on the device, and as much pinned memory on the host, which is
  // returned. At most once.
  virtual absl::StatusOr<absl::Span<float>> Allocate(int64_t elements) = 0;

  // What all ranks of a communicator must be given; made by one of them. Needs no GPU.
  virtual absl::StatusOr<std::string> NewUniqueId() = 0;
  // Starts to connect the ranks; done once CommunicatorIdle. INVALID_ARGUMENT: that is no id.
  virtual absl::Status StartCommunicator(const std::string& unique_id, int size, int rank) = 0;
  // False while NCCL itself is still at work on the last call. The error is an asynchronous one.
  virtual absl::StatusOr<bool> CommunicatorIdle() = 0;
  // Starts to let what is under way end; done once CommunicatorIdle.
  virtual absl::Status StartFinalize() = 0;
  virtual void Destroy() = 0;
  // Ends whatever is under way on the communicator. Nothing but the destructor may follow.
  virtual void Abort() = 0;

  // Queued on the stream, on the first elements of the two buffers. AllReduce sums in place, and
  // CommunicatorIdle must be seen before more is queued behind it.
  virtual absl::Status CopyToDevice(int64_t elements) = 0;
  virtual absl::Status AllReduce(int64_t elements) = 0;
  virtual absl::Status CopyToHost(int64_t elements) = 0;
  virtual absl::Status RecordEvent() = 0;
  // Whether the stream has passed the last RecordEvent.
  virtual absl::StatusOr<bool> EventDone() = 0;
};

// The libraries themselves. FAILED_PRECONDITION: this build has no NCCL.
absl::StatusOr<std::unique_ptr<CudaNccl>> OpenCudaNccl();

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BASELINES_NCCL_CUDA_NCCL_H_
