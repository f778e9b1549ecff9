// A shard's ear for shard 0's elections (election_service.h). Thread-safe.
#ifndef RINGSIDE_PS_SERVER_ELECTION_FOLLOWER_H_
#define RINGSIDE_PS_SERVER_ELECTION_FOLLOWER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "common/network/endpoint.h"
#include "ps_server/parameter_shard.h"
#include "shard.grpc.pb.h"

namespace ringside {

class ElectionFollower final : public grpc::ClientReadReactor<StepElection> {
 public:
  struct Config {
    int shard = 0;
    Endpoint shard0;
    std::string token;
    uint32_t generation = 0;
    uint32_t recovery = 0;
    // Both are called from a thread of gRPC and must not block.
    std::function<void(ParameterShard::Election)> on_election;
    // The stream has ended otherwise than in good order; suspects shard 0.
    std::function<void(const absl::Status&)> on_failure;
  };

  // Connects, for as long as it takes.
  explicit ElectionFollower(Config config);
  // Gives the stream up and waits until it is over.
  ~ElectionFollower() override;

  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  const Config config_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<ShardElections::Stub> stub_;
  grpc::ClientContext context_;
  FollowRequest request_;
  StepElection incoming_;  // belongs to the read that is under way

  Mutex mutex_;
  CondVar done_changed_;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  bool giving_up_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_ELECTION_FOLLOWER_H_
