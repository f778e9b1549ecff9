// The raw stream by the synchronous API, as generated code has it: the caller writes, a thread
// reads.
#include <grpcpp/impl/codegen/sync_stream.h>

#include <thread>
#include <utility>

#include "worker/bench/arrivals.h"
#include "worker/bench/raw_stream.h"

namespace ringside {
namespace {

class SyncStream final : public RawStream {
 public:
  explicit SyncStream(std::shared_ptr<grpc::Channel> channel)
      : channel_(std::move(channel)),
        method_(kRawEchoMethod, grpc::internal::RpcMethod::BIDI_STREAMING, channel_) {
    context_.set_wait_for_ready(true);
    stream_.reset(
        grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(
            channel_.get(), method_, &context_));
    reader_ = std::thread([this] { ReadAll(); });
  }

  ~SyncStream() override {
    context_.TryCancel();
    reader_.join();
    stream_->Finish();
  }

  void Expect(int64_t frames, bool keep) override { arrivals_.Expect(frames, keep); }
  void Send(const grpc::ByteBuffer* frame) override { stream_->Write(*frame); }
  absl::Status Await(absl::Time deadline) override { return arrivals_.Await(deadline); }
  std::vector<grpc::ByteBuffer> TakeKept() override { return arrivals_.TakeKept(); }

 private:
  void ReadAll() {
    grpc::ByteBuffer frame;
    while (stream_->Read(&frame)) {
      arrivals_.Add(&frame);
      frame.Clear();
    }
    arrivals_.End();
  }

  const std::shared_ptr<grpc::Channel> channel_;
  const grpc::internal::RpcMethod method_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream_;
  Arrivals arrivals_;
  std::thread reader_;
};

}  // namespace

std::unique_ptr<RawStream> OpenSyncStream(std::shared_ptr<grpc::Channel> channel) {
  return std::make_unique<SyncStream>(std::move(channel));
}

}  // namespace ringside
