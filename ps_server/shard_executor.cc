#include "ps_server/shard_executor.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {

ShardExecutor::ShardExecutor(Config config, std::unique_ptr<ParameterShard> shard, Streams* streams)
    : config_(config),
      streams_(streams),
      inline_(shard->table().elements() <= kMaxInlineElements && !config_.step_closed_blocks),
      shard_(std::move(shard)),
      ended_(config.world_size, false),
      first_step_(shard_->open_step()) {
  PublishAccount();
  thread_ = std::thread([this] { Run(); });
}

ShardExecutor::~ShardExecutor() {
  Stop(absl::CancelledError(absl::StrCat("shard ", config_.shard, " is shut down")));
  if (thread_.joinable()) thread_.join();
}

ShardExecutor::Account& ShardExecutor::Account::operator+=(const Account& later) {
  steps += later.steps;
  broadcasts += later.broadcasts;
  open_step = later.open_step;
  fold_time += later.fold_time;
  serialise_time += later.serialise_time;
  queue_time += later.queue_time;
  frames += later.frames;
  statistics += later.statistics;
  units = later.units;
  return *this;
}

void ShardExecutor::PushFrame(const FrameHeader& header, FramePayload payload) {
  Frame frame{header, std::move(payload), std::chrono::steady_clock::now()};
  {
    MutexLock lock(&mutex_);
    if (outcome_.has_value()) return;  // nobody takes it any more
    if (!inline_ || held_ || !queue_.empty() || !stop_.ok()) {
      queue_.emplace_back(std::move(frame));
      // Who holds the shard looks at the queue before it lets go.
      if (queue_.size() == 1 && !held_) arrived_.NotifyOne();
      return;
    }
    held_ = true;
  }
  HandleInline(std::move(frame));
}

void ShardExecutor::HandleInline(Frame frame) {
  std::vector<Event> batch;
  batch.emplace_back(std::move(frame));
  for (bool first = true;; first = false) {
    absl::Status failure = HandleAll(&batch);
    if (!failure.ok()) return GiveShard(std::move(failure));
    if (!TakeFramesOrGive(/*may_take=*/first, &batch)) return;
  }
}

bool ShardExecutor::TakeFramesOrGive(bool may_take, std::vector<Event>* batch) {
  MutexLock lock(&mutex_);
  const bool frames_alone = std::all_of(queue_.begin(), queue_.end(), [](const Event& event) {
    return absl::holds_alternative<Frame>(event);
  });
  if (may_take && frames_alone && !queue_.empty() && stop_.ok()) {
    batch->swap(queue_);
    return true;
  }
  PublishAccount();
  held_ = false;
  if (!queue_.empty() || !stop_.ok()) arrived_.NotifyOne();
  return false;
}

void ShardExecutor::Elect(ParameterShard::Election election) { Enqueue(std::move(election)); }

void ShardExecutor::StreamEnded(int worker, absl::Status how) {
  Enqueue(End{worker, std::move(how)});
}

void ShardExecutor::Enqueue(Event event) {
  MutexLock lock(&mutex_);
  if (outcome_.has_value()) return;  // nobody takes it any more
  queue_.push_back(std::move(event));
  arrived_.NotifyOne();
}

void ShardExecutor::Stop(absl::Status why) {
  MutexLock lock(&mutex_);
  if (stop_.ok()) stop_ = why.ok() ? absl::CancelledError("stopped") : std::move(why);
  arrived_.NotifyOne();
}

absl::Status ShardExecutor::Await() {
  MutexLock lock(&mutex_);
  while (!outcome_.has_value()) finished_.Wait(&mutex_);
  return *outcome_;
}

ShardExecutor::Account ShardExecutor::account() const {
  MutexLock lock(&mutex_);
  return account_;
}

void ShardExecutor::ReleaseShard() {
  {
    MutexLock lock(&mutex_);
    RINGSIDE_CHECK(outcome_.has_value());
  }
  if (thread_.joinable()) thread_.join();
  shard_.reset();
  results_.clear();
}

void ShardExecutor::Run() {
  std::vector<Event> batch;
  absl::Status failure;
  for (;;) {
    failure = TakeShard(&batch);
    if (failure.ok()) failure = HandleAll(&batch);
    if (failure.ok()) failure = CheckDeadline(absl::Now());
    if (!failure.ok() || AllEnded()) break;
    GiveShard(absl::OkStatus());
  }
  if (!failure.ok()) streams_->CloseAll(failure);
  MutexLock lock(&mutex_);
  PublishAccount();
  outcome_ = std::move(failure);
  queue_.clear();
  finished_.NotifyAll();
}

absl::Status ShardExecutor::HandleAll(std::vector<Event>* batch) {
  absl::Status failure;
  for (auto event = batch->begin(); event != batch->end() && failure.ok(); ++event) {
    failure = absl::visit([this](auto& what) { return Handle(std::move(what)); }, *event);
    if (failure.ok()) NoteWaiting(true);
  }
  batch->clear();
  return failure;
}

void ShardExecutor::PublishAccount() {
  account_ = own_account_;
  account_.steps = static_cast<int64_t>(shard_->open_step() - first_step_);
  account_.broadcasts = first_step_ == config_.broadcast_step && account_.steps > 0 ? 1 : 0;
  account_.open_step = static_cast<int64_t>(shard_->open_step());
  account_.statistics = shard_->statistics();
  account_.units = shard_->table().size();
}

absl::Status ShardExecutor::TakeShard(std::vector<Event>* batch) {
  MutexLock lock(&mutex_);
  while (held_ || (queue_.empty() && stop_.ok())) {
    // A reactor that holds the shard may begin a wait and wakes nobody for it.
    const absl::Time look = inline_ ? absl::Now() + margin() / 2 : absl::InfiniteFuture();
    const absl::Time until = held_ ? look : std::min(deadline(), look);
    if (!arrived_.WaitUntil(&mutex_, until) && !held_) break;
  }
  held_ = true;
  batch->swap(queue_);
  return stop_;
}

void ShardExecutor::GiveShard(absl::Status failure) {
  MutexLock lock(&mutex_);
  PublishAccount();
  held_ = false;
  if (!failure.ok() && stop_.ok()) stop_ = std::move(failure);
  if (!stop_.ok()) arrived_.NotifyOne();
}

absl::Status ShardExecutor::Handle(Frame frame) {
  const auto worker = static_cast<int>(frame.header.sender);
  const uint64_t step = shard_->open_step();
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = shard_->Push(frame.header, std::move(frame.payload), &results_);
  const auto end = std::chrono::steady_clock::now();
  if (config_.trace != nullptr) Trace(frame.header, frame.arrived, start, end);
  own_account_.fold_time += absl::FromChrono(end - start);
  own_account_.queue_time += absl::FromChrono(start - frame.arrived);
  ++own_account_.frames;
  RINGSIDE_RETURN_IF_ERROR(status);
  streams_->FrameTaken(worker);
  return AfterShard(step);
}

void ShardExecutor::Trace(const FrameHeader& header, std::chrono::steady_clock::time_point arrived,
                          std::chrono::steady_clock::time_point start,
                          std::chrono::steady_clock::time_point end) const {
  const auto step = static_cast<int64_t>(header.step);
  TraceBuffer* const trace = TraceBuffer::If(config_.trace, step);
  if (trace == nullptr || header.kind != FrameKind::kPush) return;
  const auto record = [&](TraceKind kind, std::chrono::steady_clock::time_point from,
                          std::chrono::steady_clock::time_point to) {
    trace->Record({kind, step, static_cast<int>(header.bucket), static_cast<int>(header.sender),
                   std::chrono::nanoseconds(from.time_since_epoch()).count(),
                   std::chrono::nanoseconds(to.time_since_epoch()).count()});
  };
  record(TRACE_QUEUE, arrived, start);
  record(results_.empty() ? TRACE_PARK : TRACE_FOLD, start, end);
}

absl::Status ShardExecutor::Handle(ParameterShard::Election election) {
  const uint64_t step = shard_->open_step();
  RINGSIDE_RETURN_IF_ERROR(shard_->Elect(election, &results_));
  return AfterShard(step);
}

absl::Status ShardExecutor::AfterShard(uint64_t step_before) {
  if (!results_.empty()) {
    const auto start = std::chrono::steady_clock::now();
    for (const ParameterShard::Result& result : results_) streams_->Send(result);
    results_.clear();
    own_account_.serialise_time += absl::FromChrono(std::chrono::steady_clock::now() - start);
  }
  if (shard_->open_step() > step_before) waits_since_ = absl::InfiniteFuture();  // a new wait
  if (config_.step_closed == nullptr) return absl::OkStatus();
  for (uint64_t step = step_before; step < shard_->open_step(); ++step) {
    RINGSIDE_RETURN_IF_ERROR(config_.step_closed(step, shard_.get()));
  }
  return absl::OkStatus();
}

absl::Status ShardExecutor::Handle(End end) {
  if (end.how.ok() && shard_->has_finished(end.worker)) {
    ended_[end.worker] = true;
    return absl::OkStatus();
  }
  const absl::string_view how =
      end.how.ok() ? absl::string_view("has ended before the end of training") : "broke";
  return WithSuspects(
      absl::Status(end.how.ok() ? absl::StatusCode::kUnavailable : end.how.code(),
                   absl::StrCat("shard ", config_.shard, ": the stream of worker ", end.worker, " ",
                                how, " at step ", shard_->open_step(), end.how.ok() ? "" : ": ",
                                end.how.message())),
      {WorkerId(end.worker)});
}

void ShardExecutor::NoteWaiting(bool progress) {
  if (!SomebodyWaits()) {
    waits_since_ = absl::InfiniteFuture();
  } else if (waits_since_ == absl::InfiniteFuture() || (progress && config_.progress_is_enough)) {
    waits_since_ = absl::Now();
  }
}

bool ShardExecutor::SomebodyWaits() const {
  if (shard_->all_finished()) return false;
  for (int worker = 0; worker < config_.world_size; ++worker) {
    if (shard_->has_finished(worker)) return true;
  }
  return shard_->somebody_waits();
}

absl::Duration ShardExecutor::margin() const {
  return std::min(config_.step_timeout / 10, absl::Seconds(1));
}

absl::Time ShardExecutor::deadline() const {
  return waits_since_ + (config_.step_timeout - margin());
}

absl::Status ShardExecutor::CheckDeadline(absl::Time now) const {
  if (now < deadline()) return absl::OkStatus();
  std::vector<MemberId> unfinished;
  bool somebody_finished = false;
  for (int worker = 0; worker < config_.world_size; ++worker) {
    if (shard_->has_finished(worker)) {
      somebody_finished = true;
    } else {
      unfinished.push_back(WorkerId(worker));
    }
  }
  const std::string waited = absl::StrCat("shard ", config_.shard, " has waited ",
                                          absl::FormatDuration(config_.step_timeout), " for ");
  if (somebody_finished) {
    return WithSuspects(absl::DeadlineExceededError(absl::StrCat(waited, ToString(unfinished),
                                                                 " to finish, as others have")),
                        unfinished);
  }
  const ParameterShard::Missing missing = shard_->FindMissing();
  std::vector<MemberId> suspects;
  for (int worker : missing.workers) suspects.push_back(WorkerId(worker));
  if (suspects.empty()) {  // all have pushed: then it is not known yet who counts
    return WithSuspects(absl::DeadlineExceededError(absl::StrCat(
                            waited, "shard 0 to say who counts in step ", missing.step)),
                        {ShardId(0)});
  }
  return WithSuspects(absl::DeadlineExceededError(absl::StrCat(waited, Describe(missing))),
                      suspects);
}

bool ShardExecutor::AllEnded() const {
  return std::all_of(ended_.begin(), ended_.end(), [](bool ended) { return ended; });
}

}  // namespace ringside
