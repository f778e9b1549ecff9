#include "allreduce/grpc_ring_outlet.h"

#include <string>
#include <utility>

#include "allreduce/grpc_ring_inlet.h"
#include "common/network/grpc_server.h"
#include "common/network/grpc_status.h"

namespace ringside {

GrpcRingOutlet::GrpcRingOutlet(const Endpoint& right, Listener* listener)
    : listener_(listener),
      channel_(CreateGrpcChannel(right)),
      stub_(std::make_unique<grpc::GenericStub>(channel_)) {}

void GrpcRingOutlet::Start(const RingHello& call) {
  const EncodedRingHello bytes = Encode(call);
  context_->AddMetadata(kRingHelloKey, std::string(bytes.begin(), bytes.end()));
  stub_->PrepareBidiStreamingCall(context_.get(), kRingMethod, grpc::StubOptions(), this);
  AddHold();  // because Send comes from outside; released by the end of reading, which always comes
  StartRead(&incoming_);
  StartCall();
}

void GrpcRingOutlet::Send(grpc::ByteBuffer frame, int64_t payload_bytes) {
  MutexLock lock(&mutex_);
  if (broken_ || end_writes_) {
    lost_frames_ = true;
    return;
  }
  outgoing_.emplace_back();
  outgoing_.back().frame.Swap(&frame);
  outgoing_.back().payload_bytes = payload_bytes;
  if (outgoing_.size() == 1) StartWrite(&outgoing_.front().frame);
}

void GrpcRingOutlet::EndWrites() {
  MutexLock lock(&mutex_);
  if (broken_ || end_writes_) return;
  end_writes_ = true;
  if (outgoing_.empty()) StartWritesDone();
}

void GrpcRingOutlet::OnWriteDone(bool ok) {
  grpc::ByteBuffer sent;
  int64_t payload_bytes = 0;
  {
    // Its place stays taken, so that Send does not start a write of its own meanwhile.
    MutexLock lock(&mutex_);
    sent.Swap(&outgoing_.front().frame);
    payload_bytes = outgoing_.front().payload_bytes;
    if (!ok) lost_frames_ = true;
  }
  // Before the memory goes back: who waits for it finds the frame counted.
  if (ok) listener_->OnFrameSent(payload_bytes);
  sent.Clear();
  MutexLock lock(&mutex_);
  outgoing_.pop_front();
  if (!ok || broken_) {
    if (!outgoing_.empty()) lost_frames_ = true;
    outgoing_.clear();
  } else if (!outgoing_.empty()) {
    StartWrite(&outgoing_.front().frame);
  } else if (end_writes_) {
    StartWritesDone();
  }
}

void GrpcRingOutlet::OnReadInitialMetadataDone(bool ok) {
  // What is no rank of a ring has no such entry; its status comes with OnDone.
  if (!ok) return;
  const auto& metadata = context_->GetServerInitialMetadata();
  const auto found = metadata.find(kRingHelloKey);
  if (found == metadata.end()) return;
  listener_->OnRightAnswer(DecodeRingHello(absl::MakeConstSpan(
      reinterpret_cast<const uint8_t*>(found->second.data()), found->second.size())));
}

void GrpcRingOutlet::OnReadDone(bool ok) {
  {
    MutexLock lock(&mutex_);
    broken_ = true;
    spoken_to_ = ok;
  }
  if (ok) Cancel();
  RemoveHold();
}

void GrpcRingOutlet::OnDone(const grpc::Status& status) {
  bool spoken_to = false;
  {
    MutexLock lock(&mutex_);
    spoken_to = spoken_to_;
  }
  listener_->OnRightEnded(
      spoken_to ? absl::InvalidArgumentError("it sends on a stream on which it only receives")
                : FromGrpcStatus(status));
}

bool GrpcRingOutlet::lost_frames() const {
  MutexLock lock(&mutex_);
  return lost_frames_;
}

void GrpcRingOutlet::CloseConnection() {
  context_ = nullptr;  // it holds the channel as well
  stub_ = nullptr;
  channel_ = nullptr;
}

}  // namespace ringside
