// The parent's side of one group of rank processes: starts them, asks them, ends them.
#ifndef RINGSIDE_ALLREDUCE_BENCH_RANK_GROUP_H_
#define RINGSIDE_ALLREDUCE_BENCH_RANK_GROUP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "allreduce/bench/group_command.h"
#include "allreduce/bench/logged_process.h"
#include "allreduce_bench_control.pb.h"
#include "common/network/socket.h"

namespace ringside {

// Thread-compatible. After an error a group is of no further use.
//
// Errors name the rank. UNAVAILABLE: a rank has ended; with how, and its last line of output.
// DEADLINE_EXCEEDED: ranks are silent; lists them. Others: what a rank answered.
class RankGroup {
 public:
  struct Config {
    RankGroupKind kind;
    int world_size = 0;
    std::string binary;                    // this program
    std::vector<std::string> environment;  // base, "NAME=value"
    bool as_root = false;
    RankSetup setup;
    absl::Duration start_timeout = absl::Seconds(60);
  };

  // FAILED_PRECONDITION: the processes cannot be started, e.g. there is no mpirun.
  static absl::StatusOr<std::unique_ptr<RankGroup>> Start(const Config& config);
  // Lets the ranks end by themselves, within a few seconds; ends the others.
  ~RankGroup();

  // Asks all ranks and passes on what they exchange until all are done. Answers are by rank.
  absl::StatusOr<std::vector<RankDone>> Ask(const RankRequest& request, absl::Duration timeout);

 private:
  struct Rank {
    std::unique_ptr<Socket> socket;
    int64_t pid = 0;
    bool done = false;
    bool exchanges = false;  // has sent its entry and waits for the others'
    std::string entry;
    RankDone answer;
  };

  RankGroup(Config config, std::unique_ptr<ListeningSocket> listener)
      : config_(std::move(config)), listener_(std::move(listener)), ranks_(config_.world_size) {}
  absl::Status StartProcesses();
  absl::Status AcceptRanks();
  absl::Status AcceptOne(absl::Time deadline);
  // Reads one reply from each rank that has one. False: nobody had one in time.
  absl::StatusOr<bool> ReadReplies(absl::Time deadline);
  absl::Status TakeReply(int rank, absl::Time deadline);
  absl::Status PassOnExchange(absl::Time deadline);
  absl::Status EndedStatus(int rank);
  absl::Status SilentStatus() const;
  bool all_done() const;

  const Config config_;
  const std::unique_ptr<ListeningSocket> listener_;
  std::vector<std::unique_ptr<LoggedProcess>> processes_;  // one a rank, or one mpirun
  std::vector<Rank> ranks_;
  bool failed_ = false;
  bool finishing_ = false;  // all ranks are asked to end
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_RANK_GROUP_H_
