#include "worker/bench/raw_echo_service.h"

#include <grpcpp/impl/codegen/method_handler.h>
#include <grpcpp/impl/codegen/rpc_service_method.h>

#include <deque>
#include <string>

#include "common/mutex.h"
#include "worker/bench/raw_stream.h"

namespace ringside {
namespace {

using EchoReaderWriter = grpc::ServerReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

// Reads on while echoes wait to be written: their number is bounded by the client, who has no more
// frames under way than those of one exchange.
class EchoReactor final : public grpc::ServerGenericBidiReactor {
 public:
  EchoReactor() { StartRead(&incoming_); }

  void OnReadDone(bool ok) override {
    MutexLock lock(&mutex_);
    if (!ok) {
      reads_ended_ = true;
      if (outgoing_.empty()) Finish(grpc::Status::OK);
      return;
    }
    outgoing_.emplace_back();
    outgoing_.back().Swap(&incoming_);
    if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    MutexLock lock(&mutex_);
    outgoing_.pop_front();
    if (!ok) outgoing_.clear();
    if (!outgoing_.empty()) {
      StartWrite(&outgoing_.front());
    } else if (reads_ended_) {
      Finish(grpc::Status::OK);
    }
  }

  void OnDone() override { delete this; }

 private:
  grpc::ByteBuffer incoming_;  // belongs to the read that is under way
  Mutex mutex_;
  std::deque<grpc::ByteBuffer> outgoing_ ABSL_GUARDED_BY(mutex_);  // the first is being written
  bool reads_ended_ ABSL_GUARDED_BY(mutex_) = false;
};

class NoSuchMethod final : public grpc::ServerGenericBidiReactor {
 public:
  explicit NoSuchMethod(const std::string& method) {
    Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no method " + method));
  }
  void OnDone() override { delete this; }
};

grpc::Status Echo(EchoReaderWriter* stream) {
  grpc::ByteBuffer frame;
  while (stream->Read(&frame) && stream->Write(frame)) frame.Clear();
  return grpc::Status::OK;
}

}  // namespace

grpc::ServerGenericBidiReactor* CallbackEchoService::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  if (context->method() == kRawEchoMethod) return new EchoReactor;
  return new NoSuchMethod(context->method());
}

SyncEchoService::SyncEchoService() {
  AddMethod(new grpc::internal::RpcServiceMethod(
      kRawEchoMethod, grpc::internal::RpcMethod::BIDI_STREAMING,
      new grpc::internal::BidiStreamingHandler<SyncEchoService, grpc::ByteBuffer, grpc::ByteBuffer>(
          [](SyncEchoService* /*service*/, grpc::ServerContext* /*context*/,
             EchoReaderWriter* stream) { return Echo(stream); },
          this)));
}

}  // namespace ringside
