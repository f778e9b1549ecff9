#include "ps_server/election_service.h"

#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/network/grpc_frame.h"
#include "common/network/grpc_status.h"
#include "common/sha256.h"

namespace ringside {

// Deletes itself when gRPC has let go of it.
class ElectionService::Stream final : public grpc::ServerWriteReactor<StepElection> {
 public:
  Stream(ElectionService* service, const FollowRequest& request)
      : service_(service), request_(request) {}

  const FollowRequest& request() const { return request_; }
  bool admitted() {
    MutexLock lock(&mutex_);
    return admitted_;
  }
  // Nothing more may be started on a stream that is ending: its follower gave up, or was refused.
  void Admit() {
    MutexLock lock(&mutex_);
    if (end_.has_value()) return;
    admitted_ = true;
    StartSendInitialMetadata();
  }
  void Tell(const StepElection& election) {
    MutexLock lock(&mutex_);
    if (end_.has_value()) return;
    outgoing_.push_back(election);
    if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
  }
  // After what is still to be told.
  void End(const absl::Status& status) {
    MutexLock lock(&mutex_);
    if (end_.has_value()) return;
    end_ = ToGrpcStatus(status);
    if (outgoing_.empty()) FinishOnce();
  }

  void OnWriteDone(bool ok) override {
    MutexLock lock(&mutex_);
    outgoing_.pop_front();
    if (!ok) outgoing_.clear();
    if (finished_) return;
    if (!outgoing_.empty()) {
      StartWrite(&outgoing_.front());
    } else if (end_.has_value()) {
      FinishOnce();
    }
  }
  void OnCancel() override {
    MutexLock lock(&mutex_);
    if (!end_.has_value()) end_ = grpc::Status::CANCELLED;
    FinishOnce();
  }
  void OnDone() override {
    service_->Remove(this);
    delete this;
  }

 private:
  void FinishOnce() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (finished_) return;
    finished_ = true;
    Finish(*end_);
  }

  ElectionService* const service_;
  const FollowRequest request_;

  Mutex mutex_;
  bool admitted_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;              // never without end_
  std::deque<StepElection> outgoing_ ABSL_GUARDED_BY(mutex_);  // the first is being written
  absl::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);
};

ElectionService::ElectionService(const std::string& token)
    : token_sha256_(Sha256Hex(absl::string_view(token))) {}

ElectionService::~ElectionService() {
  MutexLock lock(&mutex_);
  RINGSIDE_CHECK(streams_.empty());  // the server has been shut down
}

grpc::ServerWriteReactor<StepElection>* ElectionService::Follow(
    grpc::CallbackServerContext* context, const FollowRequest* request) {
  auto* stream = new Stream(this, *request);
  const auto token = context->client_metadata().find(kTokenKey);
  const bool known = token != context->client_metadata().end() && token->second == token_sha256_;
  MutexLock lock(&mutex_);
  streams_.insert(stream);
  if (!known) {
    stream->End(absl::UnauthenticatedError(
        absl::StrCat("shard 0 refuses ", context->peer(), ": the token is not that of its job")));
  } else if (ended_) {
    stream->End(absl::OkStatus());
  } else if (serving_) {
    AdmitOrRefuse(stream);
  }
  return stream;
}

void ElectionService::AdmitOrRefuse(Stream* stream) {
  const FollowRequest& request = stream->request();
  if (request.generation() == generation_ && request.recovery() == recovery_) {
    stream->Admit();
    if (last_.has_value()) stream->Tell(*last_);
  } else if (request.generation() != generation_ || request.recovery() < recovery_) {
    stream->End(absl::FailedPreconditionError(absl::StrCat(
        "shard 0 refuses shard ", request.shard(), ": it is of generation ", request.generation(),
        " recovery ", request.recovery(), ", the job of ", generation_, " and ", recovery_)));
  }
}

void ElectionService::Serve(uint32_t generation, uint32_t recovery) {
  MutexLock lock(&mutex_);
  serving_ = true;
  generation_ = generation;
  recovery_ = recovery;
  last_.reset();
  for (Stream* stream : streams_) AdmitOrRefuse(stream);
}

void ElectionService::Announce(const ParameterShard::Election& election) {
  StepElection message;
  message.set_step(election.step);
  for (int worker : election.workers) message.add_workers(worker);
  MutexLock lock(&mutex_);
  for (Stream* stream : streams_) {
    if (stream->admitted()) stream->Tell(message);
  }
  last_ = std::move(message);
}

void ElectionService::End() {
  MutexLock lock(&mutex_);
  ended_ = true;
  for (Stream* stream : streams_) stream->End(absl::OkStatus());
}

void ElectionService::Remove(Stream* stream) {
  MutexLock lock(&mutex_);
  streams_.erase(stream);
}

}  // namespace ringside
