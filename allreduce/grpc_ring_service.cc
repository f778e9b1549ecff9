#include "allreduce/grpc_ring_service.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"

namespace ringside {
namespace {

constexpr size_t kMaxCallers = 64;  // that wait to be heard; the oldest gives way

absl::StatusOr<RingHello> ReadCall(const grpc::GenericCallbackServerContext& context) {
  if (context.method() != kRingMethod) {
    return absl::UnimplementedError(
        absl::StrCat("this is a rank of a ring, which has no method ", context.method()));
  }
  const auto found = context.client_metadata().find(kRingHelloKey);
  if (found == context.client_metadata().end()) {
    return absl::InvalidArgumentError("not a hello of a Ringside ring");
  }
  return DecodeRingHello(absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(found->second.data()),
                                             found->second.size()));
}

}  // namespace

GrpcRingService::~GrpcRingService() {
  MutexLock lock(&mutex_);
  RINGSIDE_CHECK(streams_.empty());  // the server has been shut down
}

void GrpcRingService::Serve(const RingHello& own, Listener* listener) {
  MutexLock lock(&mutex_);
  RINGSIDE_CHECK(listener_ == nullptr);
  own_ = own;
  listener_ = listener;
  for (const auto& caller : streams_) Hear(caller.get());
}

grpc::ServerGenericBidiReactor* GrpcRingService::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  const absl::StatusOr<RingHello> call = ReadCall(*context);
  auto owned =
      std::make_unique<GrpcRingInlet>(context, call.ok() ? *call : RingHello(),
                                      [this](GrpcRingInlet* stream) { StreamDone(stream); });
  GrpcRingInlet* caller = owned.get();
  MutexLock lock(&mutex_);
  streams_.push_back(std::move(owned));
  if (closed_) {
    caller->Close(absl::UnavailableError("this rank has left the ring"));
  } else if (!call.ok()) {
    caller->Close(call.status());
  } else if (listener_ != nullptr) {
    Hear(caller);
  } else if (streams_.size() > kMaxCallers) {
    streams_.front()->Close(absl::ResourceExhaustedError("there are too many callers"));
  }
  return caller;
}

void GrpcRingService::Hear(GrpcRingInlet* caller) {
  RingHello answer = own_;
  const RingHello& call = caller->call();
  answer.verdict = Judge(own_, call);
  const std::string name = answer.verdict == RingHello::Verdict::kWrongToken
                               ? absl::StrCat("a caller from ", caller->peer())
                               : absl::StrCat("worker ", call.sender, " at ", caller->peer());
  if (answer.verdict != RingHello::Verdict::kWelcome) {
    caller->Refuse(answer,
                   absl::FailedPreconditionError(absl::StrCat("refused by worker ", own_.sender)));
    listener_->OnCallerRefused(RefusalStatus(answer.verdict, answer, call, name),
                               answer.verdict == RingHello::Verdict::kWrongPlan);
  } else if (admitted_) {
    const absl::Status status =
        absl::FailedPreconditionError(absl::StrCat(name, " is connected already"));
    caller->Close(status);
    listener_->OnCallerRefused(status, /*is_left=*/false);
  } else if (caller->Admit(answer, listener_)) {
    left_ = caller;
    admitted_ = true;
    listener_->OnLeftAdmitted();
  }
}

void GrpcRingService::FrameTaken() {
  MutexLock lock(&mutex_);
  if (left_ != nullptr) left_->FrameTaken();
}

void GrpcRingService::Close() {
  MutexLock lock(&mutex_);
  closed_ = true;
  for (const auto& stream : streams_) stream->Close(absl::OkStatus());
}

void GrpcRingService::StreamDone(GrpcRingInlet* stream) {
  std::unique_ptr<GrpcRingInlet> owned;  // deleted without the lock
  MutexLock lock(&mutex_);
  if (stream == left_) left_ = nullptr;
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [stream](const auto& other) { return other.get() == stream; });
  owned = std::move(*found);
  streams_.erase(found);
}

}  // namespace ringside
