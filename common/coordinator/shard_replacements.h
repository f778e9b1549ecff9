// Which lost shards wait for another process to take their place, until when, and how often a job
// stands that. A state machine: no threads, no I/O, no clock.
#ifndef RINGSIDE_COMMON_COORDINATOR_SHARD_REPLACEMENTS_H_
#define RINGSIDE_COMMON_COORDINATOR_SHARD_REPLACEMENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "common/coordinator/member_list.h"
#include "coordinator.pb.h"

namespace ringside {

class ShardReplacements {
 public:
  struct Config {
    int restarts = 0;        // losses that the job tolerates, of all shards together
    absl::Duration timeout;  // how long a replacement may take, from the loss on
  };
  struct Loss {
    MemberId shard;
    int64_t step = 0;     // the last one known of the shard
    std::string why;      // e.g. "no heartbeat for 7.0 s"
    int number = 0;       // of this loss, from 1
    absl::Time deadline;  // for the replacement to join
  };

  explicit ShardReplacements(Config config) : config_(config) {}

  const Config& config() const { return config_; }
  // Another loss would be tolerated.
  bool left() const { return used_ < config_.restarts; }
  // From now on a replacement is awaited. Requires left() and a shard that is not awaited already.
  const Loss& Await(const MemberId& shard, int64_t step, absl::string_view why, absl::Time now);
  // nullptr: no replacement of it is awaited.
  const Loss* Find(const MemberId& shard) const;
  bool any() const { return !awaited_.empty(); }
  // The loss whose replacement has been awaited longest. Requires any().
  const Loss& Earliest() const;
  // The replacement is there: returns its number, from 1. Requires that it was awaited.
  uint32_t Replaced(const MemberId& shard);
  // All members have met after the last replacement: the losses before it have no consequence any
  // more.
  void MadeGood() { replaced_.clear(); }
  // The first loss that is not made good: its replacement is awaited, or has not met the others.
  absl::optional<Loss> Unhealed() const;
  // How many replacements there have been.
  uint32_t recovery() const { return recovery_; }
  // A loss whose replacement did not come in time.
  absl::optional<Loss> Overdue(absl::Time now) const;
  // The time was not the newcomers'.
  void Postpone(absl::Duration gap);
  // The losses since the last call.
  std::vector<Loss> TakeNew();

 private:
  const Config config_;
  int used_ = 0;
  uint32_t recovery_ = 0;
  std::map<MemberId, Loss, MemberOrder> awaited_;
  std::vector<Loss> replaced_;  // and not made good
  std::vector<Loss> new_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_SHARD_REPLACEMENTS_H_
