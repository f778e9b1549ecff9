#include "allreduce/grpc_ring_inlet.h"

#include <utility>

#include "common/network/grpc_status.h"

namespace ringside {
namespace {

std::string Text(const RingHello& hello) {
  const EncodedRingHello bytes = Encode(hello);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

GrpcRingInlet::GrpcRingInlet(grpc::GenericCallbackServerContext* context, const RingHello& call,
                             std::function<void(GrpcRingInlet*)> on_done)
    : context_(context), call_(call), peer_(context->peer()), on_done_(std::move(on_done)) {}

bool GrpcRingInlet::Admit(const RingHello& answer, Receiver* receiver) {
  MutexLock lock(&mutex_);
  if (finished_) return false;
  receiver_ = receiver;
  context_->AddInitialMetadata(kRingHelloKey, Text(answer));
  StartSendInitialMetadata();
  StartNextRead();
  return true;
}

void GrpcRingInlet::Refuse(const RingHello& answer, const absl::Status& why) {
  MutexLock lock(&mutex_);
  if (finished_) return;
  context_->AddInitialMetadata(kRingHelloKey, Text(answer));
  StartSendInitialMetadata();
  FinishOnce(why);
}

void GrpcRingInlet::StartNextRead() {
  if (reading_ || finished_ || frames_waiting_ >= kMaxFramesWaiting) return;
  reading_ = true;
  StartRead(&incoming_);
}

void GrpcRingInlet::OnReadDone(bool ok) {
  if (!ok) {
    TellEnd();
    Close(absl::OkStatus());
    return;
  }
  grpc::ByteBuffer frame;
  frame.Swap(&incoming_);
  Receiver* receiver = nullptr;
  {
    MutexLock lock(&mutex_);
    ++frames_waiting_;
    receiver = receiver_;
  }
  receiver->OnLeftFrame(std::move(frame));
  MutexLock lock(&mutex_);
  reading_ = false;
  StartNextRead();
}

void GrpcRingInlet::FrameTaken() {
  MutexLock lock(&mutex_);
  --frames_waiting_;
  StartNextRead();
}

void GrpcRingInlet::Close(const absl::Status& status) {
  MutexLock lock(&mutex_);
  FinishOnce(status);
}

void GrpcRingInlet::OnCancel() { Close(absl::CancelledError("the stream broke")); }

void GrpcRingInlet::FinishOnce(const absl::Status& status) {
  if (finished_) return;
  finished_ = true;
  Finish(ToGrpcStatus(status));
}

// After a lost connection no read may be under way that would tell it, hence also from OnDone.
void GrpcRingInlet::TellEnd() {
  Receiver* receiver = nullptr;
  {
    MutexLock lock(&mutex_);
    if (end_told_) return;
    end_told_ = true;
    receiver = receiver_;
  }
  if (receiver != nullptr) receiver->OnLeftEnded();
}

void GrpcRingInlet::OnDone() {
  TellEnd();
  const auto on_done = on_done_;  // it deletes this stream
  on_done(this);
}

}  // namespace ringside
