// The raw stream by the callback API: one write in flight, the others in a queue.
#include <grpcpp/generic/generic_stub.h>

#include <deque>
#include <utility>

#include "common/mutex.h"
#include "worker/bench/arrivals.h"
#include "worker/bench/raw_stream.h"

namespace ringside {
namespace {

class CallbackStream final : public RawStream,
                             private grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit CallbackStream(std::shared_ptr<grpc::Channel> channel)
      : channel_(std::move(channel)), stub_(channel_) {
    context_.set_wait_for_ready(true);
    stub_.PrepareBidiStreamingCall(&context_, kRawEchoMethod, grpc::StubOptions(), this);
    AddHold();  // because Send comes from outside; released by the end of reading
    StartRead(&incoming_);
    StartCall();
  }

  ~CallbackStream() override {
    context_.TryCancel();
    arrivals_.AwaitEnd();
  }

  void Expect(int64_t frames, bool keep) override { arrivals_.Expect(frames, keep); }

  void Send(const grpc::ByteBuffer* frame) override {
    MutexLock lock(&mutex_);
    if (broken_) return;
    outgoing_.push_back(frame);
    if (outgoing_.size() == 1) StartWrite(frame);
  }

  absl::Status Await(absl::Time deadline) override { return arrivals_.Await(deadline); }
  std::vector<grpc::ByteBuffer> TakeKept() override { return arrivals_.TakeKept(); }

 private:
  void OnWriteDone(bool ok) override {
    MutexLock lock(&mutex_);
    outgoing_.pop_front();
    if (!ok || broken_) {
      outgoing_.clear();
    } else if (!outgoing_.empty()) {
      StartWrite(outgoing_.front());
    }
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      {
        MutexLock lock(&mutex_);
        broken_ = true;
      }
      RemoveHold();
      return;
    }
    arrivals_.Add(&incoming_);
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void OnDone(const grpc::Status& /*status*/) override { arrivals_.End(); }

  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_;  // belongs to the read that is under way
  Arrivals arrivals_;
  Mutex mutex_;
  std::deque<const grpc::ByteBuffer*> outgoing_ ABSL_GUARDED_BY(mutex_);  // first: being written
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<RawStream> OpenCallbackStream(std::shared_ptr<grpc::Channel> channel) {
  return std::make_unique<CallbackStream>(std::move(channel));
}

}  // namespace ringside
