// Shard 0's word on who counts in a step of the mode `backup`, to all other shards: a stream to
// each.
//
// A follower can be behind by no more than the last election: a step is only elected when workers
// have pushed it, which they do when all shards have closed the one before. So whoever comes late
// is told the last one, and everything after. Thread-safe. It must outlive the server.
#ifndef RINGSIDE_PS_SERVER_ELECTION_SERVICE_H_
#define RINGSIDE_PS_SERVER_ELECTION_SERVICE_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "absl/types/optional.h"
#include "common/mutex.h"
#include "ps_server/parameter_shard.h"
#include "shard.grpc.pb.h"

namespace ringside {

class ElectionService final : public ShardElections::CallbackService {
 public:
  explicit ElectionService(const std::string& token);
  ~ElectionService() override;

  // From now on followers of this generation and recovery are admitted; those who came before wait
  // for it. Forgets elections of an earlier recovery.
  void Serve(uint32_t generation, uint32_t recovery);
  void Announce(const ParameterShard::Election& election);
  // Ends all streams in good order; nobody follows any more.
  void End();

  grpc::ServerWriteReactor<StepElection>* Follow(grpc::CallbackServerContext* context,
                                                 const FollowRequest* request) override;

 private:
  class Stream;

  void Remove(Stream* stream);
  void AdmitOrRefuse(Stream* stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string token_sha256_;

  Mutex mutex_;
  bool serving_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  uint32_t generation_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t recovery_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::optional<StepElection> last_ ABSL_GUARDED_BY(mutex_);
  std::set<Stream*> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_ELECTION_SERVICE_H_
