#include "allreduce/baselines/nccl/nccl_all_reducer.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// A wait gives up its core between looks, and after a while sleeps between them, so that short sums
// are not measured by the sleep and long ones do not hold a core.
constexpr absl::Duration kYieldFor = absl::Milliseconds(1);
constexpr absl::Duration kSleep = absl::Microseconds(100);
// For what NCCL still has under way when a healthy communicator ends.
constexpr absl::Duration kFinalizeTimeout = absl::Seconds(5);

}  // namespace

absl::Status CheckCudaDevice(CudaNccl* cuda, int device) {
  const absl::StatusOr<int> count = cuda->CountDevices();
  const std::string flag = absl::StrCat("--device=cuda:", device);
  if (!count.ok() || *count == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(flag, ": this machine has no usable CUDA device (",
                     count.ok() ? "it has none at all" : count.status().message(), ")"));
  }
  if (device < *count) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(flag, ": this machine has ", *count, " CUDA device", *count == 1 ? "" : "s",
                   ", cuda:0", *count == 1 ? "" : absl::StrCat(" to cuda:", *count - 1)));
}

absl::StatusOr<std::unique_ptr<NcclAllReducer>> NcclAllReducer::Create(
    Config config, std::unique_ptr<CudaNccl> cuda) {
  const Group& group = config.group;
  if (cuda == nullptr || group.index < 0 || group.index >= group.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("index ", group.index, " in a group of ", group.size()));
  }
  if (config.max_elements <= 0 || config.step_timeout <= absl::ZeroDuration() ||
      config.connect_timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("sums of ", config.max_elements, " elements, step timeout of ",
                     absl::FormatDuration(config.step_timeout), ", connect timeout of ",
                     absl::FormatDuration(config.connect_timeout), "; all must be positive"));
  }
  RINGSIDE_RETURN_IF_ERROR(CheckCudaDevice(cuda.get(), config.device));
  auto reducer = absl::WrapUnique(new NcclAllReducer(std::move(config), std::move(cuda)));
  const absl::Status status = reducer->Connect();
  if (status.ok()) return reducer;
  return reducer->Fail(
      reducer->Explain(status, absl::StrCat("communicator of ", reducer->config_.group.size(),
                                            " ranks on cuda:", reducer->config_.device)));
}

NcclAllReducer::NcclAllReducer(Config config, std::unique_ptr<CudaNccl> cuda)
    : config_(std::move(config)), cuda_(std::move(cuda)) {}

NcclAllReducer::~NcclAllReducer() {
  if (!FirstError().ok() || !cuda_->SelectDevice(config_.device).ok()) {
    cuda_->Abort();
    return;
  }
  // Other ranks may still be reading what this one has sent, and NCCL sends after a sum is done.
  const absl::Time deadline = absl::Now() + kFinalizeTimeout;
  absl::Status status = cuda_->StartFinalize();
  if (status.ok()) {
    status = Await([this] { return cuda_->CommunicatorIdle(); }, deadline, "to be finalized");
  }
  status.ok() ? cuda_->Destroy() : cuda_->Abort();
}

absl::Status NcclAllReducer::Connect() {
  const absl::Time deadline = absl::Now() + config_.connect_timeout;
  RINGSIDE_RETURN_IF_ERROR(cuda_->SelectDevice(config_.device));
  description_ = cuda_->description();
  RINGSIDE_ASSIGN_OR_RETURN(staging_, cuda_->Allocate(config_.max_elements));
  RINGSIDE_RETURN_IF_ERROR(
      cuda_->StartCommunicator(config_.unique_id, config_.group.size(), config_.group.index));
  return Await(
      [this] { return cuda_->CommunicatorIdle(); }, deadline,
      absl::StrCat("for the other ranks, ", absl::FormatDuration(config_.connect_timeout)));
}

absl::Status NcclAllReducer::Sum(CollectiveId id, absl::Span<const float> in,
                                 absl::Span<float> out) {
  RINGSIDE_CHECK(in.size() == out.size());
  RINGSIDE_RETURN_IF_ERROR(FirstError());
  if (in.empty()) return absl::OkStatus();
  absl::Status status;
  if (in.size() > staging_.size()) {
    status = absl::InvalidArgumentError(
        absl::StrCat("the sum was to have ", staging_.size(), " elements at most"));
  } else {
    status = Run(in, out);
  }
  if (status.ok()) return status;
  // Here and not in Abort, because NCCL wants no other call on the communicator meanwhile; Await
  // hears of an Abort at once.
  cuda_->Abort();
  return Fail(Explain(status, absl::StrCat("sum of step ", id.step, " bucket ", id.bucket, " (",
                                           in.size(), " elements)")));
}

absl::Status NcclAllReducer::Run(absl::Span<const float> in, absl::Span<float> out) {
  const absl::Time deadline = absl::Now() + config_.step_timeout;
  const auto elements = static_cast<int64_t>(in.size());
  const std::string what =
      absl::StrCat("for the sum, ", absl::FormatDuration(config_.step_timeout));
  RINGSIDE_RETURN_IF_ERROR(cuda_->SelectDevice(config_.device));
  std::memcpy(staging_.data(), in.data(), in.size() * sizeof(float));
  RINGSIDE_RETURN_IF_ERROR(cuda_->CopyToDevice(elements));
  RINGSIDE_RETURN_IF_ERROR(cuda_->AllReduce(elements));
  RINGSIDE_RETURN_IF_ERROR(Await([this] { return cuda_->CommunicatorIdle(); }, deadline, what));
  RINGSIDE_RETURN_IF_ERROR(cuda_->CopyToHost(elements));
  RINGSIDE_RETURN_IF_ERROR(cuda_->RecordEvent());
  RINGSIDE_RETURN_IF_ERROR(Await(
      [this]() -> absl::StatusOr<bool> {
        RINGSIDE_RETURN_IF_ERROR(cuda_->CommunicatorIdle().status());
        return cuda_->EventDone();
      },
      deadline, what));
  std::memcpy(out.data(), staging_.data(), out.size() * sizeof(float));
  return absl::OkStatus();
}

absl::Status NcclAllReducer::Await(const std::function<absl::StatusOr<bool>()>& done,
                                   absl::Time deadline, absl::string_view what) {
  const absl::Time begin = absl::Now();
  for (;;) {
    RINGSIDE_ASSIGN_OR_RETURN(const bool is_done, done());
    if (is_done) return absl::OkStatus();
    const absl::Time now = absl::Now();
    if (now >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat("has waited ", what));
    }
    if (now < begin + kYieldFor) {
      std::this_thread::yield();
      RINGSIDE_RETURN_IF_ERROR(FirstError());
    } else {
      MutexLock lock(&mutex_);
      if (status_.ok()) failed_.WaitUntil(&mutex_, std::min(deadline, now + kSleep));
      RINGSIDE_RETURN_IF_ERROR(status_);
    }
  }
}

absl::Status NcclAllReducer::Explain(const absl::Status& status, absl::string_view place) const {
  const absl::Status explained(status.code(),
                               absl::StrCat("nccl, ", place, ": ", status.message()));
  if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) return explained;
  std::vector<MemberId> others;
  for (const int rank : config_.group.members) {
    if (rank != config_.group.rank()) others.push_back(WorkerId(rank));
  }
  return others.empty() ? explained : WithSuspects(explained, others);
}

absl::Status NcclAllReducer::FirstError() {
  MutexLock lock(&mutex_);
  return status_;
}

absl::Status NcclAllReducer::Fail(absl::Status status) {
  MutexLock lock(&mutex_);
  if (status_.ok()) status_ = std::move(status);
  failed_.NotifyAll();
  return status_;
}

void NcclAllReducer::Abort(absl::Status cause) {
  if (cause.ok()) cause = absl::AbortedError("aborted without a cause");
  static_cast<void>(Fail(std::move(cause)));
}

}  // namespace ringside
