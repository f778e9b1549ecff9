#include "worker/synchronizers/ps_summer.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/logging.h"
#include "common/ps_traffic.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// How long closed connections may take to give lent memory back.
constexpr absl::Duration kReturnTimeout = absl::Seconds(5);

ShardLayout LayoutOf(const PsSummer::Config& config) {
  return {config.group.size(), static_cast<int>(config.shards.size()), config.frame_bytes};
}

std::vector<UnitTable> TablesOf(const BucketPlan& plan, const ShardLayout& layout) {
  std::vector<UnitTable> tables;
  for (int shard = 0; shard < layout.num_shards; ++shard) tables.emplace_back(plan, layout, shard);
  return tables;
}

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

absl::StatusOr<std::unique_ptr<PsSummer>> PsSummer::Create(Config config) {
  RINGSIDE_RETURN_IF_ERROR(LayoutOf(config).Validate(config.plan));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> sums,
                            Arena::Create(config.plan.total_elements(), Arena::Placement::kHeap));
  const absl::Time deadline = absl::Now() + config.connect_timeout;
  SharedArenas shared({config.gradients});
  std::vector<ShardLink> links;
  for (int shard = 0; shard < static_cast<int>(config.shards.size()); ++shard) {
    RINGSIDE_ASSIGN_OR_RETURN(
        ShardLink link, OpenShardLink({config.ps_link, shard, config.shards[shard], config.token,
                                       config.group.rank(), config.group.generation},
                                      shared, deadline));
    links.push_back(std::move(link));
  }
  auto summer =
      absl::WrapUnique(new PsSummer(std::move(config), std::move(shared), links, std::move(sums)));
  RINGSIDE_RETURN_IF_ERROR(summer->Connect(deadline));
  return summer;
}

PsSummer::PsSummer(Config config, SharedArenas shared, const std::vector<ShardLink>& links,
                   std::unique_ptr<Arena> sums)
    : config_(std::move(config)),
      layout_(LayoutOf(config_)),
      tables_(TablesOf(config_.plan, layout_)),
      shared_(std::move(shared)),
      links_(LinksInForce(links)),
      sums_(std::move(sums)),
      lent_(std::make_unique<LentSlices>()),
      ledger_(&config_.plan, &tables_, config_.group),
      connected_(config_.shards.size(), false),
      ended_(config_.shards.size(), false) {
  for (int shard = 0; shard < layout_.num_shards; ++shard) {
    ShardStream::Listener* const listener = this;
    streams_.push_back(std::make_unique<ShardStream>(
        ShardStream::Config{shard, links[shard], &shared_, config_.tuning, config_.token,
                            config_.group.rank(), config_.group.generation, config_.plan.hash()},
        lent_.get(), listener));
  }
  for (const auto& stream : streams_) stream->Start();
}

PsSummer::~PsSummer() {
  CancelAll();
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

absl::Status PsSummer::Connect(absl::Time deadline) {
  MutexLock lock(&mutex_);
  while (failure_.ok() && !AllOf(connected_)) {
    if (changed_.WaitUntil(&mutex_, deadline) || !failure_.ok() || AllOf(connected_)) continue;
    const std::vector<MemberId> lacking = Lacking(connected_);
    std::string where;
    for (const MemberId& id : lacking)
      absl::StrAppend(&where, " ", ToString(config_.shards[id.rank()]));
    failure_ =
        WithSuspects(absl::DeadlineExceededError(absl::StrCat(
                         "worker ", config_.group.rank(), ": no answer from ", ToString(lacking),
                         " at", where, " within ", absl::FormatDuration(config_.connect_timeout))),
                     lacking);
  }
  return failure_;
}

void PsSummer::Submit(const GradientBucket& bucket) {
  const absl::Status status = SubmitOrFail(bucket);
  if (!status.ok()) Fail(status);
}

absl::Status PsSummer::SubmitOrFail(const GradientBucket& bucket) {
  if (bucket.rank != config_.group.rank()) {
    return absl::InvalidArgumentError(absl::StrCat("worker ", config_.group.rank(),
                                                   " was given gradients of worker ", bucket.rank));
  }
  {
    MutexLock lock(&mutex_);
    if (!failure_.ok()) return failure_;
    RINGSIDE_RETURN_IF_ERROR(
        ledger_.Submit(bucket.step, bucket.bucket, static_cast<int64_t>(bucket.gradients.size())));
    const absl::Time now = MonotonicNow();
    if (bucket.after_backward) clock_.BackwardEnded(now);
    clock_.Submitted(now, Units(bucket.bucket));
  }
  FrameHeader header;
  header.kind = FrameKind::kPush;
  header.group = config_.group.id;
  header.generation = config_.group.generation;
  header.step = static_cast<uint64_t>(bucket.step);
  header.bucket = static_cast<uint32_t>(bucket.bucket);
  header.sender = static_cast<uint32_t>(config_.group.index);
  header.weight = static_cast<uint64_t>(bucket.samples);
  for (int shard = 0; shard < layout_.num_shards; ++shard) {
    const UnitTable& table = tables_[shard];
    std::vector<ShardStream::Frame> frames;
    for (int unit = table.first_of_bucket(bucket.bucket);
         unit < table.first_of_bucket(bucket.bucket + 1); ++unit) {
      const ElementRange& range = table.unit(unit).range;
      header.offset = static_cast<uint64_t>(range.begin);
      header.elements = static_cast<uint32_t>(range.length);
      frames.push_back({header, bucket.gradients.subspan(range.begin, range.length)});
    }
    streams_[shard]->Send(frames);
  }
  return absl::OkStatus();
}

int64_t PsSummer::Units(int bucket) const {
  int64_t units = 0;
  for (const UnitTable& table : tables_)
    units += table.first_of_bucket(bucket + 1) - table.first_of_bucket(bucket);
  return units;
}

absl::StatusOr<absl::Span<const float>> PsSummer::Finish(int64_t step) {
  const absl::Time deadline = absl::Now() + config_.step_timeout;
  MutexLock lock(&mutex_);
  clock_.BackwardEnded(MonotonicNow());
  if (failure_.ok()) failure_ = ledger_.CheckSubmitted(step);
  while (failure_.ok() && !ledger_.AllComplete()) {
    if (!changed_.WaitUntil(&mutex_, deadline) && failure_.ok() && !ledger_.AllComplete())
      failure_ = StepTimedOut(step);
  }
  RINGSIDE_RETURN_IF_ERROR(failure_);
  ledger_.Close();
  communication_ = clock_.Finished(MonotonicNow());
  return sums_->span();
}

absl::Status PsSummer::StepTimedOut(int64_t step) const {
  const ExchangeLedger::Missing missing = ledger_.FindMissing();
  std::vector<MemberId> shards;
  for (int shard : missing.shards) shards.push_back(ShardId(shard));
  return WithSuspects(
      absl::DeadlineExceededError(absl::StrCat("worker ", config_.group.rank(), " has waited ",
                                               absl::FormatDuration(config_.step_timeout), " for ",
                                               ToString(shards), " at step ", step, " bucket ",
                                               missing.bucket, " (", missing.bytes, " bytes)")),
      shards);
}

void PsSummer::OnShardConnected(int shard) {
  MutexLock lock(&mutex_);
  connected_[shard] = true;
  changed_.NotifyAll();
}

void PsSummer::OnShardFrame(int shard, ReceivedFrame frame) {
  const absl::Status status = TakeResult(shard, frame);
  if (!status.ok()) Fail(WithSuspects(status, {ShardId(shard)}));
}

absl::Status PsSummer::TakeResult(int shard, const ReceivedFrame& frame) {
  ElementRange place;
  {
    MutexLock lock(&mutex_);
    if (!failure_.ok()) return absl::OkStatus();  // nobody waits for it any more
    RINGSIDE_ASSIGN_OR_RETURN(place, ledger_.Accept(shard, frame.header));
  }
  // Without the lock: the ledger gives every place to one frame only, and Finish waits for
  // Complete.
  frame.payload.CopyTo(sums_->span().subspan(place.begin, place.length),
                       config_.plan.total_elements());
  MutexLock lock(&mutex_);
  ledger_.Complete();
  clock_.Summed(MonotonicNow());
  if (ledger_.AllComplete()) changed_.NotifyAll();
  return absl::OkStatus();
}

void PsSummer::OnShardEnded(int shard, const absl::Status& how) {
  MutexLock lock(&mutex_);
  ended_[shard] = true;
  if (failure_.ok() && !(how.ok() && shutting_down_)) {
    std::vector<MemberId> suspects = SuspectsOf(how);
    if (suspects.empty()) suspects = {ShardId(shard)};
    const absl::string_view why = how.ok() ? "it has no more to do" : how.message();
    failure_ = WithSuspects(
        absl::Status(how.ok() ? absl::StatusCode::kUnavailable : how.code(),
                     absl::StrCat("worker ", config_.group.rank(), ": shard ", shard, " at ",
                                  ToString(config_.shards[shard]), " has ended the stream at step ",
                                  std::max<int64_t>(ledger_.step(), 0), ": ", why)),
        suspects);
  }
  changed_.NotifyAll();
}

void PsSummer::Fail(absl::Status status) {
  MutexLock lock(&mutex_);
  if (failure_.ok()) failure_ = std::move(status);
  changed_.NotifyAll();
}

void PsSummer::Abort(absl::Status cause) {
  if (cause.ok()) cause = absl::AbortedError("aborted without a cause");
  Fail(std::move(cause));
  CancelAll();
}

void PsSummer::CancelAll() {
  for (const auto& stream : streams_) stream->Cancel();
}

absl::Status PsSummer::Shutdown() {
  {
    MutexLock lock(&mutex_);
    RINGSIDE_RETURN_IF_ERROR(failure_);
    shutting_down_ = true;
  }
  for (const auto& stream : streams_) stream->EndWrites();
  const absl::Time deadline = absl::Now() + config_.step_timeout;
  MutexLock lock(&mutex_);
  while (failure_.ok() && !AllOf(ended_)) {
    if (changed_.WaitUntil(&mutex_, deadline) || AllOf(ended_)) continue;
    const std::vector<MemberId> lacking = Lacking(ended_);
    failure_ = WithSuspects(
        absl::DeadlineExceededError(absl::StrCat(
            "worker ", config_.group.rank(), ": ", ToString(lacking),
            " did not end the stream within ", absl::FormatDuration(config_.step_timeout))),
        lacking);
  }
  return failure_;
}

TrafficCounters PsSummer::traffic() const {
  TrafficCounters sum;
  for (const auto& stream : streams_) sum += stream->traffic();
  return sum;
}

TrafficCounters PsSummer::ExpectedTraffic(int64_t exchanges) const {
  return PsWorkerTraffic(config_.plan, layout_, exchanges);
}

}  // namespace ringside
