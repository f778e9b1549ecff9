#include "worker/synchronizers/ps_exchange.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/ps_traffic.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

ShardLayout LayoutOf(const PsExchange::Config& config) {
  return {config.group.size(), static_cast<int>(config.shards.size()), config.frame_bytes};
}

std::vector<UnitTable> TablesOf(const BucketPlan& plan, const ShardLayout& layout) {
  std::vector<UnitTable> tables;
  for (int shard = 0; shard < layout.num_shards; ++shard) tables.emplace_back(plan, layout, shard);
  return tables;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PsExchange>> PsExchange::Create(Config config) {
  RINGSIDE_RETURN_IF_ERROR(LayoutOf(config).Validate(config.plan));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> results,
                            Arena::Create(config.plan.total_elements(), Arena::Placement::kHeap));
  auto exchange = absl::WrapUnique(new PsExchange(std::move(config), std::move(results)));
  const absl::Status connected = exchange->Connect(exchange->config_.shards, /*recovery=*/0);
  if (!connected.ok()) RINGSIDE_RETURN_IF_ERROR(exchange->Recover(connected).status());
  return exchange;
}

PsExchange::PsExchange(Config config, std::unique_ptr<Arena> results)
    : config_(std::move(config)),
      layout_(LayoutOf(config_)),
      tables_(TablesOf(config_.plan, layout_)),
      results_(std::move(results)),
      lent_(config_.plan.size()),
      ledger_(&config_.plan, &tables_, config_.group, config_.policy.mode == PsMode::kBackup),
      end_(layout_.num_shards, config_.policy.is_asynchronous()),
      pulls_(config_.shards.size(), 0) {}

PsExchange::~PsExchange() {
  std::shared_ptr<ShardLinks> last;  // goes without the lock: its callbacks use everything else
  MutexLock lock(&mutex_);
  last.swap(links_);
}

std::shared_ptr<ShardLinks> PsExchange::links() const {
  MutexLock lock(&mutex_);
  return links_;
}

absl::Status PsExchange::Connect(const std::vector<ShardAddress>& shards, uint32_t recovery) {
  ShardLinks::Config config;
  config.group = config_.group;
  config.plan_hash = config_.plan.hash();
  config.shards = shards;
  config.token = config_.token;
  config.ps_link = config_.ps_link;
  config.tuning = config_.tuning;
  if (config_.gradients != nullptr) config.arenas = {config_.gradients};
  config.recovery = recovery;
  config.trace = config_.trace;
  config.timeout = config_.connect_timeout;
  {
    MutexLock lock(&mutex_);
    outdated_ = absl::OkStatus();
  }
  ShardRecovery* const others = config_.recovery.get();
  if (others != nullptr)
    others->WatchReplacements(recovery, [this](const absl::Status& why) { Outdate(why); });
  const absl::Status connected = ConnectLinks(std::move(config));
  if (others != nullptr) others->WatchReplacements(recovery, nullptr);
  const absl::Status interruption = Interruption();
  return interruption.ok() ? connected : interruption;
}

absl::Status PsExchange::ConnectLinks(ShardLinks::Config config) {
  ShardLinks::Listener* const listener = this;
  RINGSIDE_ASSIGN_OR_RETURN(const std::shared_ptr<ShardLinks> made,
                            ShardLinks::Start(
                                std::move(config), [this] { return Interruption(); }, listener));
  {
    MutexLock lock(&mutex_);
    links_ = made;  // so that whoever interrupts from now on can cancel it
  }
  RINGSIDE_RETURN_IF_ERROR(Interruption());
  return made->AwaitConnected();
}

void PsExchange::Outdate(const absl::Status& why) {
  {
    MutexLock lock(&mutex_);
    if (outdated_.ok()) outdated_ = why;
  }
  const std::shared_ptr<ShardLinks> to_cancel = links();
  if (to_cancel != nullptr) to_cancel->Cancel();
}

absl::Status PsExchange::Interruption() const {
  MutexLock lock(&mutex_);
  return aborted_.ok() ? outdated_ : aborted_;
}

void PsExchange::Submit(const GradientBucket& bucket) {
  const absl::Status status = SubmitOrFail(bucket);
  if (!status.ok()) Fail(status);
}

absl::Status PsExchange::SubmitOrFail(const GradientBucket& bucket) {
  if (bucket.rank != config_.group.rank()) {
    return absl::InvalidArgumentError(absl::StrCat("worker ", config_.group.rank(),
                                                   " was given gradients of worker ", bucket.rank));
  }
  {
    MutexLock lock(&mutex_);
    if (!failure_.ok() && config_.recovery == nullptr) return failure_;
    RINGSIDE_RETURN_IF_ERROR(
        ledger_.Submit(bucket.step, bucket.bucket, static_cast<int64_t>(bucket.gradients.size())));
    const absl::Time now = MonotonicNow();
    if (bucket.after_backward) clock_.BackwardEnded(now);
    clock_.Submitted(now, Units(bucket.bucket));
  }
  lent_[bucket.bucket] = bucket;
  const std::shared_ptr<ShardLinks> to = links();
  for (int shard = 0; shard < layout_.num_shards; ++shard) {
    const UnitTable& table = tables_[shard];
    frames_.clear();
    for (int unit = table.first_of_bucket(bucket.bucket);
         unit < table.first_of_bucket(bucket.bucket + 1); ++unit) {
      frames_.push_back(PushOf(bucket, shard, unit));
    }
    if (to != nullptr && !frames_.empty()) to->Send(shard, frames_);
  }
  return absl::OkStatus();
}

ShardStream::Frame PsExchange::PushOf(const GradientBucket& bucket, int shard, int unit) const {
  const ElementRange& range = tables_[shard].unit(unit).range;
  FrameHeader header = Header(FrameKind::kPush, bucket.step);
  header.bucket = static_cast<uint32_t>(bucket.bucket);
  header.offset = static_cast<uint64_t>(range.begin);
  header.elements = static_cast<uint32_t>(range.length);
  header.weight = static_cast<uint64_t>(bucket.samples);
  return {header, bucket.gradients.subspan(range.begin, range.length)};
}

FrameHeader PsExchange::Header(FrameKind kind, int64_t step) const {
  FrameHeader header;
  header.kind = kind;
  header.group = config_.group.id;
  header.generation = config_.group.generation;
  header.step = static_cast<uint64_t>(step);
  header.sender = static_cast<uint32_t>(config_.group.index);
  return header;
}

int64_t PsExchange::Units(int bucket) const {
  int64_t units = 0;
  for (const UnitTable& table : tables_)
    units += table.first_of_bucket(bucket + 1) - table.first_of_bucket(bucket);
  return units;
}

absl::StatusOr<int64_t> PsExchange::Finish(int64_t step) {
  for (;;) {
    const absl::StatusOr<int64_t> finished = FinishOnce(step);
    if (finished.ok()) return finished;
    RINGSIDE_ASSIGN_OR_RETURN(const absl::optional<int64_t> back, Recover(finished.status()));
    if (back.has_value()) return *back;
  }
}

absl::StatusOr<int64_t> PsExchange::FinishOnce(int64_t step) {
  const absl::Time deadline = absl::Now() + config_.step_timeout;
  {
    MutexLock lock(&mutex_);
    clock_.BackwardEnded(MonotonicNow());
    if (failure_.ok()) failure_ = ledger_.CheckSubmitted(step);
    RINGSIDE_RETURN_IF_ERROR(AwaitResults(deadline, config_.step_timeout));
  }
  int64_t results_step = step;
  if (config_.policy.mode == PsMode::kBackup) {
    RINGSIDE_ASSIGN_OR_RETURN(results_step, Align(deadline));
  }
  MutexLock lock(&mutex_);
  ledger_.Close();
  communication_ = clock_.Finished(MonotonicNow());
  return results_step;
}

absl::Status PsExchange::AwaitResults(absl::Time deadline, absl::Duration patience) {
  while (failure_.ok() && !ledger_.AllComplete()) {
    if (!changed_.WaitUntil(&mutex_, deadline) && failure_.ok() && !ledger_.AllComplete())
      failure_ = TimedOut(patience);
  }
  return failure_;
}

absl::StatusOr<int64_t> PsExchange::Align(absl::Time deadline) {
  for (;;) {
    uint64_t newest = 0;
    std::vector<int> behind;
    {
      MutexLock lock(&mutex_);
      newest = ledger_.newest();
      behind = ledger_.Reopen(newest);
      for (int shard : behind) ++pulls_[shard];
    }
    if (behind.empty()) return static_cast<int64_t>(newest);
    for (int shard : behind) SendWord(shard, FrameKind::kPull, static_cast<int64_t>(newest));
    MutexLock lock(&mutex_);
    RINGSIDE_RETURN_IF_ERROR(AwaitResults(deadline, config_.step_timeout));
  }
}

void PsExchange::SendWord(int shard, FrameKind kind, int64_t step) {
  const ShardStream::Frame word{Header(kind, step), {}};
  links()->Send(shard, absl::MakeConstSpan(&word, 1));
}

absl::Status PsExchange::TimedOut(absl::Duration patience) const {
  const ExchangeLedger::Missing missing = ledger_.FindMissing();
  std::vector<MemberId> shards;
  for (int shard : missing.shards) shards.push_back(ShardId(shard));
  return WithSuspects(
      absl::DeadlineExceededError(
          absl::StrCat("worker ", config_.group.rank(), " has waited ",
                       absl::FormatDuration(patience), " for ", ToString(shards), " at step ",
                       ledger_.step(), " bucket ", missing.bucket, " (", missing.bytes, " bytes)")),
      shards);
}

void PsExchange::OnShardFrame(int shard, ReceivedFrame frame) {
  const absl::Status status = TakeFrame(shard, frame);
  if (!status.ok()) Fail(WithSuspects(status, {ShardId(shard)}));
}

absl::Status PsExchange::TakeFrame(int shard, const ReceivedFrame& frame) {
  if (frame.header.kind != FrameKind::kFinish) return TakeResult(shard, frame);
  MutexLock lock(&mutex_);
  if (!end_.begun()) {
    return absl::InvalidArgumentError(absl::StrCat("worker ", config_.group.rank(), " refuses the ",
                                                   Describe(frame.header),
                                                   ": it has not finished"));
  }
  end_.Finished(shard);
  changed_.NotifyAll();
  return absl::OkStatus();
}

absl::Status PsExchange::TakeResult(int shard, const ReceivedFrame& frame) {
  const TraceScope traced(config_.trace, TRACE_RESULT, static_cast<int64_t>(frame.header.step),
                          static_cast<int>(frame.header.bucket), shard);
  ElementRange place;
  {
    MutexLock lock(&mutex_);
    if (!failure_.ok()) return absl::OkStatus();  // nobody waits for it any more
    RINGSIDE_ASSIGN_OR_RETURN(place, ledger_.Accept(shard, frame.header));
    ++copying_;
  }
  // Without the lock: the ledger gives every place to one frame only, and Finish waits for
  // Complete.
  frame.payload.CopyTo(results_->span().subspan(place.begin, place.length),
                       config_.plan.total_elements());
  MutexLock lock(&mutex_);
  ledger_.Complete();
  clock_.Summed(MonotonicNow());
  --copying_;
  if (ledger_.AllComplete() || !failure_.ok()) changed_.NotifyAll();
  return absl::OkStatus();
}

void PsExchange::OnShardEnded(int shard, const absl::Status& how) {
  MutexLock lock(&mutex_);
  const bool harmless = how.ok() ? end_.begun() : end_.Lost(shard);
  if (failure_.ok() && !harmless) {
    const std::string at =
        absl::StrCat(" (step ", std::max(ledger_.step(), config_.first_step), ")");
    failure_ = how.ok() ? WithSuspects(absl::UnavailableError(absl::StrCat(
                                           "worker ", config_.group.rank(), ": shard ", shard,
                                           " has ended the stream: it has no more to do", at)),
                                       {ShardId(shard)})
                        : WithSuspects(absl::Status(how.code(), absl::StrCat(how.message(), at)),
                                       SuspectsOf(how));
  }
  changed_.NotifyAll();
}

void PsExchange::Fail(absl::Status status) {
  MutexLock lock(&mutex_);
  if (failure_.ok()) failure_ = std::move(status);
  changed_.NotifyAll();
}

void PsExchange::Abort(absl::Status cause) {
  if (cause.ok()) cause = absl::AbortedError("aborted without a cause");
  {
    MutexLock lock(&mutex_);
    if (aborted_.ok()) aborted_ = cause;
  }
  Fail(std::move(cause));
  const std::shared_ptr<ShardLinks> to_cancel = links();
  if (to_cancel != nullptr) to_cancel->Cancel();
}

absl::StatusOr<absl::optional<int64_t>> PsExchange::Shutdown() {
  for (;;) {
    const absl::Status ended = ShutdownOnce();
    if (ended.ok()) return absl::optional<int64_t>();
    RINGSIDE_ASSIGN_OR_RETURN(const absl::optional<int64_t> back, Recover(ended));
    if (back.has_value()) return back;
  }
}

absl::Status PsExchange::ShutdownOnce() {
  const absl::Time deadline = absl::Now() + config_.finish_timeout;
  int64_t last_step = 0;
  {
    MutexLock lock(&mutex_);
    RINGSIDE_RETURN_IF_ERROR(failure_);
    end_.Begin();
    last_step = std::max(ledger_.step(), config_.first_step);
    if (config_.policy.is_asynchronous()) {
      ledger_.OpenForPull(last_step);
      for (int64_t& pulls : pulls_) ++pulls;
    }
  }
  for (int shard = 0; shard < layout_.num_shards; ++shard) {
    SendWord(shard, FrameKind::kFinish, last_step);
  }
  {
    MutexLock lock(&mutex_);
    RINGSIDE_RETURN_IF_ERROR(AwaitTrainingEnd(deadline));
    // All results were sent before the last word.
    if (config_.policy.is_asynchronous()) {
      RINGSIDE_RETURN_IF_ERROR(AwaitResults(deadline, config_.finish_timeout));
      ledger_.Close();
    }
  }
  links()->EndWrites();
  return links()->AwaitEnd(config_.step_timeout);
}

absl::Status PsExchange::AwaitTrainingEnd(absl::Time deadline) {
  for (bool in_time = true; failure_.ok();) {
    const std::vector<int> lacking = end_.Lacking();
    if (lacking.empty()) break;
    if (in_time) {
      in_time = changed_.WaitUntil(&mutex_, deadline);
      continue;
    }
    std::vector<MemberId> shards;
    for (int shard : lacking) shards.push_back(ShardId(shard));
    failure_ = WithSuspects(
        absl::DeadlineExceededError(absl::StrCat(
            "worker ", config_.group.rank(), ": ", ToString(shards),
            " did not end the training within ", absl::FormatDuration(config_.finish_timeout))),
        shards);
  }
  return failure_;
}

TrafficCounters PsExchange::traffic() const {
  MutexLock lock(&mutex_);
  TrafficCounters sum = traffic_before_;
  if (links_ != nullptr) sum += links_->traffic();
  return sum;
}

TrafficCounters PsExchange::ExpectedTraffic(int64_t exchanges) const {
  TrafficCounters expected = PsWorkerTraffic(config_.plan, layout_, exchanges);
  MutexLock lock(&mutex_);
  for (int shard = 0; shard < layout_.num_shards; ++shard) {
    expected += PsAnswers(config_.plan, layout_, shard, pulls_[shard]);
  }
  return expected;
}

}  // namespace ringside
