#include "worker/synchronizers/shard_stream.h"

#include "absl/strings/str_cat.h"
#include "common/network/grpc_frame.h"
#include "common/network/grpc_server.h"
#include "common/network/grpc_status.h"
#include "common/sha256.h"

namespace ringside {

ShardStream::ShardStream(const Config& config, LentSlices* lent, Listener* listener)
    : shard_(config.shard),
      endpoint_(config.endpoint),
      lent_(lent),
      listener_(listener),
      channel_(CreateGrpcChannel(config.endpoint)),
      stub_(std::make_unique<grpc::GenericStub>(channel_)) {
  context_->set_wait_for_ready(true);
  context_->AddMetadata(kTokenKey, Sha256Hex(absl::string_view(config.token)));
  context_->AddMetadata(kRankKey, absl::StrCat(config.rank));
  context_->AddMetadata(kGenerationKey, absl::StrCat(config.generation));
  context_->AddMetadata(kPlanKey, config.plan_hash);
  context_->AddMetadata(kRecoveryKey, absl::StrCat(config.recovery));
}

void ShardStream::Start() {
  stub_->PrepareBidiStreamingCall(context_.get(), kExchangeMethod, grpc::StubOptions(), this);
  AddHold();  // because Send comes from outside; released by the end of reading, which always comes
  StartRead(&incoming_);
  StartCall();
}

void ShardStream::Send(const FrameHeader& header, absl::Span<const float> payload) {
  MutexLock lock(&mutex_);
  if (broken_) return;
  outgoing_.push_back({header, payload});
  if (outgoing_.size() == 1) StartNextWrite();
}

void ShardStream::StartNextWrite() {
  const Outgoing& next = outgoing_.front();
  writing_ =
      MakeFrame(next.header, lent_->Lend({reinterpret_cast<const uint8_t*>(next.payload.data()),
                                          next.payload.size() * sizeof(float)}));
  if (next.header.elements > 0) {
    traffic_.payload_bytes_sent += next.header.payload_bytes();
    traffic_.header_bytes_sent += static_cast<int64_t>(kFrameHeaderBytes);
    ++traffic_.messages_sent;
  }
  StartWrite(&writing_);
}

void ShardStream::EndWrites() {
  MutexLock lock(&mutex_);
  if (broken_ || end_writes_) return;
  end_writes_ = true;
  if (outgoing_.empty()) StartWritesDone();
}

void ShardStream::OnWriteDone(bool ok) {
  MutexLock lock(&mutex_);
  writing_.Clear();
  outgoing_.pop_front();
  if (!ok || broken_) {
    outgoing_.clear();
  } else if (!outgoing_.empty()) {
    StartNextWrite();
  } else if (end_writes_) {
    StartWritesDone();
  }
}

void ShardStream::OnReadInitialMetadataDone(bool ok) {
  // A refusal has no such entry; its status comes with OnDone.
  if (!ok || context_->GetServerInitialMetadata().count(kShardKey) == 0) return;
  const grpc::string_ref answer = context_->GetServerInitialMetadata().find(kShardKey)->second;
  if (answer == absl::StrCat(shard_)) {
    listener_->OnShardConnected(shard_);
    return;
  }
  {
    MutexLock lock(&mutex_);
    wrong_shard_ = absl::FailedPreconditionError(
        absl::StrCat("shard ", std::string(answer.data(), answer.size()), " answers there"));
  }
  Cancel();
}

void ShardStream::OnReadDone(bool ok) {
  if (!ok) {
    {
      MutexLock lock(&mutex_);
      broken_ = true;
    }
    RemoveHold();
    return;
  }
  if (incoming_.Length() > kFrameHeaderBytes) {
    MutexLock lock(&mutex_);
    traffic_.payload_bytes_received +=
        static_cast<int64_t>(incoming_.Length()) - static_cast<int64_t>(kFrameHeaderBytes);
    traffic_.header_bytes_received += static_cast<int64_t>(kFrameHeaderBytes);
    ++traffic_.messages_received;
  }
  listener_->OnShardFrame(shard_, incoming_);
  incoming_.Clear();
  StartRead(&incoming_);
}

void ShardStream::OnDone(const grpc::Status& status) {
  absl::Status how = FromGrpcStatus(status);
  {
    MutexLock lock(&mutex_);
    if (!wrong_shard_.ok()) how = wrong_shard_;
  }
  listener_->OnShardEnded(shard_, how);
}

void ShardStream::CloseConnection() {
  context_ = nullptr;  // it holds the channel as well
  stub_ = nullptr;
  channel_ = nullptr;
}

TrafficCounters ShardStream::traffic() const {
  MutexLock lock(&mutex_);
  return traffic_;
}

}  // namespace ringside
