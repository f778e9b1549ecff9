// Plays a GPU and NCCL for the logic above them: records the calls, does what the test says.
#ifndef RINGSIDE_TESTS_TESTING_FAKE_CUDA_NCCL_H_
#define RINGSIDE_TESTS_TESTING_FAKE_CUDA_NCCL_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "allreduce/baselines/nccl/cuda_nccl.h"
#include "common/mutex.h"

namespace ringside {

// What one fake GPU is to do and has done; outlives the fake, and may be looked at from any thread.
class FakeGpu {
 public:
  absl::StatusOr<int> devices = 2;
  float others = 10;      // what all other ranks bring, in every element
  bool connects = true;   // the other ranks come
  bool completes = true;  // sums end
  bool finalizes = true;
  absl::Status copy_error;

  void SetAsyncError(const absl::Status& error) {
    MutexLock lock(&mutex_);
    async_error_ = error;
  }
  absl::Status async_error() const {
    MutexLock lock(&mutex_);
    return async_error_;
  }
  void Record(const std::string& call) {
    MutexLock lock(&mutex_);
    calls_.push_back(call);
  }
  // Without the polls, whose number is a matter of chance.
  std::vector<std::string> calls() const {
    MutexLock lock(&mutex_);
    return calls_;
  }
  int Count(const std::string& call) const {
    const std::vector<std::string> all = calls();
    return static_cast<int>(std::count(all.begin(), all.end(), call));
  }
  // Blocks until the event was asked for.
  void AwaitEventPoll() {
    MutexLock lock(&mutex_);
    while (!polled_) changed_.Wait(&mutex_);
  }
  void NoteEventPoll() {
    MutexLock lock(&mutex_);
    polled_ = true;
    changed_.NotifyAll();
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  absl::Status async_error_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mutex_);
  bool polled_ ABSL_GUARDED_BY(mutex_) = false;
};

class FakeCudaNccl final : public CudaNccl {
 public:
  explicit FakeCudaNccl(FakeGpu* gpu) : gpu_(gpu) {}

  absl::StatusOr<int> CountDevices() override { return gpu_->devices; }
  absl::Status SelectDevice(int device) override {
    device_ = device;
    return absl::OkStatus();
  }
  std::string description() override { return "a fake"; }
  absl::StatusOr<absl::Span<float>> Allocate(int64_t elements) override {
    gpu_->Record("allocate " + std::to_string(elements));
    host_.resize(static_cast<size_t>(elements));
    device_buffer_.resize(static_cast<size_t>(elements));
    return absl::MakeSpan(host_);
  }
  absl::StatusOr<std::string> NewUniqueId() override { return std::string("fake id"); }
  absl::Status StartCommunicator(const std::string& unique_id, int size, int rank) override {
    gpu_->Record("connect \"" + unique_id + "\" " + std::to_string(rank) + " of " +
                 std::to_string(size) + " on " + std::to_string(device_));
    connecting_ = true;
    return absl::OkStatus();
  }
  absl::StatusOr<bool> CommunicatorIdle() override {
    const absl::Status error = gpu_->async_error();
    if (!error.ok()) return error;
    return (!connecting_ || gpu_->connects) && (!finalizing_ || gpu_->finalizes);
  }
  absl::Status StartFinalize() override {
    gpu_->Record("finalize");
    finalizing_ = true;
    return absl::OkStatus();
  }
  void Destroy() override { gpu_->Record("destroy"); }
  void Abort() override { gpu_->Record("abort"); }

  absl::Status CopyToDevice(int64_t elements) override {
    gpu_->Record("to device");
    std::copy_n(host_.begin(), elements, device_buffer_.begin());
    return gpu_->copy_error;
  }
  absl::Status AllReduce(int64_t elements) override {
    gpu_->Record("all-reduce " + std::to_string(elements));
    for (int64_t i = 0; i < elements; ++i) device_buffer_[i] += gpu_->others;
    return absl::OkStatus();
  }
  absl::Status CopyToHost(int64_t elements) override {
    gpu_->Record("to host");
    std::copy_n(device_buffer_.begin(), elements, host_.begin());
    return absl::OkStatus();
  }
  absl::Status RecordEvent() override {
    gpu_->Record("event");
    return absl::OkStatus();
  }
  absl::StatusOr<bool> EventDone() override {
    gpu_->NoteEventPoll();
    return gpu_->completes;
  }

 private:
  FakeGpu* const gpu_;
  int device_ = -1;
  bool connecting_ = false;
  bool finalizing_ = false;
  std::vector<float> host_;
  std::vector<float> device_buffer_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_TESTING_FAKE_CUDA_NCCL_H_
