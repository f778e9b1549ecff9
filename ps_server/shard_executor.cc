#include "ps_server/shard_executor.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {

ShardExecutor::ShardExecutor(Config config, std::unique_ptr<ParameterShard> shard, Streams* streams)
    : config_(config),
      streams_(streams),
      shard_(std::move(shard)),
      ended_(config.world_size, false),
      thread_([this] { Run(); }) {}

ShardExecutor::~ShardExecutor() {
  Stop(absl::CancelledError(absl::StrCat("shard ", config_.shard, " is shut down")));
  thread_.join();
}

void ShardExecutor::PushFrame(const FrameHeader& header, FramePayload payload) {
  Enqueue(Frame{header, std::move(payload)});
}

void ShardExecutor::StreamEnded(int worker, absl::Status how) {
  Enqueue(End{worker, std::move(how)});
}

void ShardExecutor::Enqueue(Event event) {
  MutexLock lock(&mutex_);
  if (outcome_.has_value()) return;  // nobody takes it any more
  queue_.push_back(std::move(event));
  if (queue_.size() == 1) arrived_.NotifyOne();
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

void ShardExecutor::Run() {
  std::vector<Event> batch;
  absl::Status failure;
  while (failure.ok() && !AllEnded()) {
    failure = TakeEvents(deadline(), &batch);
    for (auto event = batch.begin(); event != batch.end() && failure.ok(); ++event) {
      failure = absl::visit([this](auto& what) { return Handle(std::move(what)); }, *event);
      if (failure.ok()) failure = CheckAfterEvent();
    }
    batch.clear();
    if (failure.ok()) failure = CheckDeadline(absl::Now());
  }
  if (!failure.ok()) streams_->CloseAll(failure);
  MutexLock lock(&mutex_);
  outcome_ = std::move(failure);
  account_ = {shard_->closed_steps(), fold_time_};
  queue_.clear();
  finished_.NotifyAll();
}

absl::Status ShardExecutor::TakeEvents(absl::Time deadline, std::vector<Event>* batch) {
  MutexLock lock(&mutex_);
  while (queue_.empty() && stop_.ok()) {
    if (!arrived_.WaitUntil(&mutex_, deadline)) break;
  }
  batch->swap(queue_);
  return stop_;
}

absl::Status ShardExecutor::Handle(Frame frame) {
  const auto worker = static_cast<int>(frame.header.sender);
  results_.clear();
  const uint64_t step = shard_->open_step();
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = shard_->Push(frame.header, std::move(frame.payload), &results_);
  fold_time_ += absl::FromChrono(std::chrono::steady_clock::now() - start);
  RINGSIDE_RETURN_IF_ERROR(status);
  streams_->FrameTaken(worker);
  for (const ParameterShard::Result& result : results_) streams_->SendToAll(result);
  if (shard_->open_step() != step && config_.step_closed != nullptr) config_.step_closed(step);
  return absl::OkStatus();
}

absl::Status ShardExecutor::Handle(End end) {
  if (end.how.ok()) {
    ended_[end.worker] = true;
    return absl::OkStatus();
  }
  return WithSuspects(
      absl::Status(end.how.code(),
                   absl::StrCat("shard ", config_.shard, ": the stream of worker ", end.worker,
                                " broke at step ", shard_->open_step(), ": ", end.how.message())),
      {WorkerId(end.worker)});
}

absl::Status ShardExecutor::CheckAfterEvent() {
  if (!shard_->somebody_waits()) {
    waits_since_ = absl::InfiniteFuture();
  } else if (waits_since_ == absl::InfiniteFuture()) {
    waits_since_ = absl::Now();
  }
  if (!shard_->started()) return absl::OkStatus();
  for (int worker = 0; worker < config_.world_size; ++worker) {
    if (ended_[worker] && !shard_->HasPushedAll(worker)) {
      return WithSuspects(
          absl::UnavailableError(absl::StrCat("shard ", config_.shard, ": worker ", worker,
                                              " has ended its stream, but step ",
                                              shard_->open_step(), " needs it")),
          {WorkerId(worker)});
    }
  }
  return absl::OkStatus();
}

absl::Time ShardExecutor::deadline() const {
  const absl::Duration margin = std::min(config_.step_timeout / 10, absl::Seconds(1));
  return waits_since_ + (config_.step_timeout - margin);
}

absl::Status ShardExecutor::CheckDeadline(absl::Time now) const {
  if (now < deadline()) return absl::OkStatus();
  const ParameterShard::Missing missing = shard_->FindMissing();
  std::vector<MemberId> suspects;
  for (int worker : missing.workers) suspects.push_back(WorkerId(worker));
  return WithSuspects(absl::DeadlineExceededError(absl::StrCat(
                          "shard ", config_.shard, " has waited ",
                          absl::FormatDuration(config_.step_timeout), " for ", Describe(missing))),
                      suspects);
}

bool ShardExecutor::AllEnded() const {
  return std::all_of(ended_.begin(), ended_.end(), [](bool ended) { return ended; });
}

}  // namespace ringside
