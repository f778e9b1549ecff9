#include "worker/synchronizers/shard_links.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// How long closed connections may take to give lent memory back.
constexpr absl::Duration kReturnTimeout = absl::Seconds(5);

bool AllOf(const std::vector<bool>& flags) {
  return std::find(flags.begin(), flags.end(), false) == flags.end();
}

// The shards whose entry of `flags` is not set.
std::vector<MemberId> Lacking(const std::vector<bool>& flags) {
  std::vector<MemberId> shards;
  for (size_t shard = 0; shard < flags.size(); ++shard) {
    if (!flags[shard]) shards.push_back(ShardId(static_cast<int>(shard)));
  }
  return shards;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ShardLinks>> ShardLinks::Start(
    Config config, const std::function<absl::Status()>& interrupted, Listener* listener) {
  const absl::Time deadline = absl::Now() + config.timeout;
  SharedArenas shared(config.arenas);
  std::vector<ShardLink> links;
  for (size_t shard = 0; shard < config.shards.size(); ++shard) {
    RINGSIDE_ASSIGN_OR_RETURN(
        ShardLink link,
        OpenShardLink({config.ps_link, static_cast<int>(shard), config.shards[shard], config.token,
                       config.group.rank(), config.group.generation},
                      shared, deadline, interrupted));
    links.push_back(std::move(link));
  }
  return absl::WrapUnique(
      new ShardLinks(std::move(config), links, std::move(shared), deadline, listener));
}

ShardLinks::ShardLinks(Config config, const std::vector<ShardLink>& links, SharedArenas shared,
                       absl::Time deadline, Listener* listener)
    : config_(std::move(config)),
      shared_(std::move(shared)),
      in_force_(LinksInForce(links)),
      deadline_(deadline),
      listener_(listener),
      lent_(std::make_unique<LentSlices>()),
      connected_(config_.shards.size(), false),
      ended_(config_.shards.size(), false) {
  for (size_t shard = 0; shard < config_.shards.size(); ++shard) {
    ShardStream::Listener* const self = this;
    streams_.push_back(std::make_unique<ShardStream>(
        ShardStream::Config{static_cast<int>(shard), links[shard], &shared_, config_.tuning,
                            config_.token, config_.group.rank(), config_.group.generation,
                            config_.plan_hash, config_.recovery, config_.trace},
        lent_.get(), self));
  }
  for (const auto& stream : streams_) stream->Start();
}

ShardLinks::~ShardLinks() {
  Cancel();
  {
    // No deadline: a cancelled call always ends, and its reactor must not be deleted before.
    MutexLock lock(&mutex_);
    while (!AllOf(ended_)) changed_.Wait(&mutex_);
  }
  for (const auto& stream : streams_) stream->CloseConnection();
  if (!lent_->AwaitReturn(absl::Now() + kReturnTimeout)) {
    LogWarning(absl::StrCat("worker ", config_.group.rank(), ": gRPC still holds gradients"));
    lent_.release();  // they may yet come back
  }
}

absl::Status ShardLinks::AwaitConnected() {
  MutexLock lock(&mutex_);
  while (failure_.ok() && !AllOf(connected_)) {
    if (changed_.WaitUntil(&mutex_, deadline_) || !failure_.ok() || AllOf(connected_)) continue;
    const std::vector<MemberId> lacking = Lacking(connected_);
    std::string where;
    for (const MemberId& id : lacking)
      absl::StrAppend(&where, " ", ToString(config_.shards[id.rank()]));
    failure_ =
        WithSuspects(absl::DeadlineExceededError(absl::StrCat(
                         "worker ", config_.group.rank(), ": no answer from ", ToString(lacking),
                         " at", where, " within ", absl::FormatDuration(config_.timeout))),
                     lacking);
  }
  connecting_ = false;
  return failure_;
}

void ShardLinks::EndWrites() {
  for (const auto& stream : streams_) stream->EndWrites();
}

absl::Status ShardLinks::AwaitEnd(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  MutexLock lock(&mutex_);
  while (!AllOf(ended_)) {
    if (changed_.WaitUntil(&mutex_, deadline) || AllOf(ended_)) continue;
    const std::vector<MemberId> lacking = Lacking(ended_);
    return WithSuspects(absl::DeadlineExceededError(absl::StrCat(
                            "worker ", config_.group.rank(), ": ", ToString(lacking),
                            " did not end the stream within ", absl::FormatDuration(timeout))),
                        lacking);
  }
  return absl::OkStatus();
}

void ShardLinks::Cancel() {
  for (const auto& stream : streams_) stream->Cancel();
}

void ShardLinks::OnShardConnected(int shard) {
  MutexLock lock(&mutex_);
  connected_[shard] = true;
  changed_.NotifyAll();
}

void ShardLinks::OnShardFrame(int shard, ReceivedFrame frame) {
  listener_->OnShardFrame(shard, std::move(frame));
}

void ShardLinks::OnShardEnded(int shard, const absl::Status& how) {
  absl::Status named = how;
  if (!how.ok()) {
    std::vector<MemberId> suspects = SuspectsOf(how);
    if (suspects.empty()) suspects = {ShardId(shard)};
    named = WithSuspects(
        absl::Status(how.code(), absl::StrCat("worker ", config_.group.rank(), ": shard ", shard,
                                              " at ", ToString(config_.shards[shard]),
                                              " has ended the stream: ", how.message())),
        suspects);
  }
  bool tell = false;
  {
    MutexLock lock(&mutex_);
    if (connecting_ && failure_.ok()) {
      failure_ = named.ok() ? absl::UnavailableError(absl::StrCat(
                                  "worker ", config_.group.rank(), ": shard ", shard, " at ",
                                  ToString(config_.shards[shard]), " has no more to do"))
                            : named;
    }
    tell = !connecting_;
  }
  if (tell) listener_->OnShardEnded(shard, named);
  // Last: then this object may go.
  MutexLock lock(&mutex_);
  ended_[shard] = true;
  changed_.NotifyAll();
}

TrafficCounters ShardLinks::traffic() const {
  TrafficCounters sum;
  for (const auto& stream : streams_) sum += stream->traffic();
  return sum;
}

}  // namespace ringside
