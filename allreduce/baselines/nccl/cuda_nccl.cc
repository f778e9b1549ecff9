#include "allreduce/baselines/nccl/cuda_nccl.h"

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

absl::Status CudaStatus(cudaError_t error, absl::string_view call) {
  if (error == cudaSuccess) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(call, ": ", cudaGetErrorString(error)));
}

class LinkedCudaNccl final : public CudaNccl {
 public:
  ~LinkedCudaNccl() override {
    if (device_ < 0) return;
    static_cast<void>(cudaSetDevice(device_));  // of the thread that destroys
    Abort();
    if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
    if (device_buffer_ != nullptr) static_cast<void>(cudaFree(device_buffer_));
    if (host_buffer_ != nullptr) static_cast<void>(cudaFreeHost(host_buffer_));
  }

  absl::StatusOr<int> CountDevices() override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess) return count;
    return absl::FailedPreconditionError(cudaGetErrorString(error));
  }

  absl::Status SelectDevice(int device) override {
    RINGSIDE_RETURN_IF_ERROR(CudaStatus(cudaSetDevice(device), "cudaSetDevice"));
    device_ = device;
    return absl::OkStatus();
  }

  std::string description() override {
    int version = 0;
    cudaDeviceProp properties = {};
    static_cast<void>(ncclGetVersion(&version));
    static_cast<void>(cudaGetDeviceProperties(&properties, device_));
    return absl::StrCat("NCCL ", version / 10000, ".", version / 100 % 100, ".", version % 100,
                        " on ", properties.name);
  }

  absl::StatusOr<absl::Span<float>> Allocate(int64_t elements) override {
    RINGSIDE_CHECK(stream_ == nullptr);
    const size_t bytes = static_cast<size_t>(elements) * sizeof(float);
    RINGSIDE_RETURN_IF_ERROR(
        CudaStatus(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"));
    RINGSIDE_RETURN_IF_ERROR(
        CudaStatus(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate"));
    RINGSIDE_RETURN_IF_ERROR(
        CudaStatus(cudaMalloc(reinterpret_cast<void**>(&device_buffer_), bytes), "cudaMalloc"));
    RINGSIDE_RETURN_IF_ERROR(CudaStatus(
        cudaMallocHost(reinterpret_cast<void**>(&host_buffer_), bytes), "cudaMallocHost"));
    return absl::MakeSpan(host_buffer_, static_cast<size_t>(elements));
  }

  absl::StatusOr<std::string> NewUniqueId() override {
    ncclUniqueId id;
    RINGSIDE_RETURN_IF_ERROR(NcclStatus(ncclGetUniqueId(&id), "ncclGetUniqueId"));
    return std::string(id.internal, sizeof(id.internal));
  }

  absl::Status StartCommunicator(const std::string& unique_id, int size, int rank) override {
    ncclUniqueId id;
    if (unique_id.size() != sizeof(id.internal)) {
      return absl::InvalidArgumentError(absl::StrCat("an id of NCCL has ", sizeof(id.internal),
                                                     " bytes, not ", unique_id.size()));
    }
    std::memcpy(id.internal, unique_id.data(), sizeof(id.internal));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // else a rank that does not come could not be given up on
    return NcclStatus(ncclCommInitRankConfig(&communicator_, size, id, rank, &config),
                      "ncclCommInitRankConfig");
  }

  absl::StatusOr<bool> CommunicatorIdle() override {
    ncclResult_t state = ncclSuccess;
    RINGSIDE_RETURN_IF_ERROR(
        NcclStatus(ncclCommGetAsyncError(communicator_, &state), "ncclCommGetAsyncError"));
    if (state == ncclInProgress) return false;
    RINGSIDE_RETURN_IF_ERROR(NcclStatus(state, "asynchronous error of NCCL"));
    return true;
  }

  absl::Status StartFinalize() override {
    return NcclStatus(ncclCommFinalize(communicator_), "ncclCommFinalize");
  }

  void Destroy() override {
    if (communicator_ != nullptr) static_cast<void>(ncclCommDestroy(communicator_));
    communicator_ = nullptr;
  }

  void Abort() override {
    if (communicator_ != nullptr) static_cast<void>(ncclCommAbort(communicator_));
    communicator_ = nullptr;
  }

  absl::Status CopyToDevice(int64_t elements) override {
    return Copy(device_buffer_, host_buffer_, elements, cudaMemcpyHostToDevice);
  }

  absl::Status AllReduce(int64_t elements) override {
    return NcclStatus(ncclAllReduce(device_buffer_, device_buffer_, static_cast<size_t>(elements),
                                    ncclFloat32, ncclSum, communicator_, stream_),
                      "ncclAllReduce");
  }

  absl::Status CopyToHost(int64_t elements) override {
    return Copy(host_buffer_, device_buffer_, elements, cudaMemcpyDeviceToHost);
  }

  absl::Status RecordEvent() override {
    return CudaStatus(cudaEventRecord(event_, stream_), "cudaEventRecord");
  }

  absl::StatusOr<bool> EventDone() override {
    const cudaError_t error = cudaEventQuery(event_);
    if (error == cudaErrorNotReady) return false;
    RINGSIDE_RETURN_IF_ERROR(CudaStatus(error, "the GPU's work failed"));
    return true;
  }

 private:
  absl::Status Copy(float* to, const float* from, int64_t elements, cudaMemcpyKind kind) {
    return CudaStatus(
        cudaMemcpyAsync(to, from, static_cast<size_t>(elements) * sizeof(float), kind, stream_),
        "cudaMemcpyAsync");
  }

  // ncclInProgress is no error: the communicator does not block.
  absl::Status NcclStatus(ncclResult_t result, absl::string_view call) const {
    if (result == ncclSuccess || result == ncclInProgress) return absl::OkStatus();
    std::string message = absl::StrCat(call, ": ", ncclGetErrorString(result));
    const char* more = ncclGetLastError(communicator_);
    if (more != nullptr && *more != '\0') absl::StrAppend(&message, " (", more, ")");
    return result == ncclRemoteError ? absl::UnavailableError(message)
                                     : absl::InternalError(message);
  }

  int device_ = -1;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
  float* device_buffer_ = nullptr;
  float* host_buffer_ = nullptr;
  ncclComm_t communicator_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CudaNccl>> OpenCudaNccl() {
  return std::make_unique<LinkedCudaNccl>();
}

}  // namespace ringside
