#include "ps_server/election_follower.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/network/grpc_frame.h"
#include "common/network/grpc_server.h"
#include "common/network/grpc_status.h"
#include "common/sha256.h"
#include "common/suspects.h"

namespace ringside {

ElectionFollower::ElectionFollower(Config config)
    : config_(std::move(config)),
      channel_(CreateGrpcChannel(config_.shard0)),
      stub_(ShardElections::NewStub(channel_)) {
  context_.set_wait_for_ready(true);
  context_.AddMetadata(kTokenKey, Sha256Hex(absl::string_view(config_.token)));
  request_.set_shard(config_.shard);
  request_.set_generation(config_.generation);
  request_.set_recovery(config_.recovery);
  stub_->async()->Follow(&context_, &request_, this);
  StartRead(&incoming_);
  StartCall();
}

ElectionFollower::~ElectionFollower() {
  {
    MutexLock lock(&mutex_);
    giving_up_ = true;
  }
  context_.TryCancel();
  MutexLock lock(&mutex_);
  while (!done_) done_changed_.Wait(&mutex_);
}

void ElectionFollower::OnReadDone(bool ok) {
  if (!ok) return;
  config_.on_election({incoming_.step(), {incoming_.workers().begin(), incoming_.workers().end()}});
  StartRead(&incoming_);
}

void ElectionFollower::OnDone(const grpc::Status& status) {
  bool giving_up = false;
  {
    MutexLock lock(&mutex_);
    giving_up = giving_up_;
  }
  if (!giving_up && !status.ok()) {
    const absl::Status how = FromGrpcStatus(status);
    config_.on_failure(WithSuspects(
        absl::Status(how.code(),
                     absl::StrCat("shard ", config_.shard,
                                  ": shard 0 no longer says who counts: ", how.message())),
        {ShardId(0)}));
  }
  MutexLock lock(&mutex_);
  done_ = true;
  done_changed_.NotifyAll();
}

}  // namespace ringside
