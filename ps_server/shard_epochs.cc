#include "ps_server/shard_epochs.h"

#include <utility>

#include "common/check.h"

namespace ringside {

ShardExecutor* ShardEpochs::Begin(uint32_t recovery, std::unique_ptr<ShardExecutor> executor) {
  MutexLock lock(&mutex_);
  RINGSIDE_CHECK(!under_way_);
  if (!executors_.empty()) before_ += executors_.back()->account();
  executors_.push_back(std::move(executor));
  under_way_ = true;
  recovery_ = recovery;
  if (!stop_.ok() && recovery < stop_before_) executors_.back()->Stop(stop_);
  return executors_.back().get();
}

absl::Status ShardEpochs::Await() {
  ShardExecutor* executor = nullptr;
  {
    MutexLock lock(&mutex_);
    RINGSIDE_CHECK(under_way_);
    executor = executors_.back().get();
  }
  const absl::Status status = executor->Await();
  MutexLock lock(&mutex_);
  under_way_ = false;
  return status;
}

void ShardEpochs::Release() {
  ShardExecutor* executor = nullptr;
  {
    MutexLock lock(&mutex_);
    RINGSIDE_CHECK(!under_way_);
    if (executors_.empty()) return;
    executor = executors_.back().get();
  }
  executor->ReleaseShard();
}

void ShardEpochs::Stop(const absl::Status& why, uint32_t recovery) {
  MutexLock lock(&mutex_);
  if (recovery < stop_before_) return;
  stop_ = why;
  stop_before_ = recovery;
  if (under_way_ && recovery_ < recovery) executors_.back()->Stop(why);
}

bool ShardEpochs::under_way() const {
  MutexLock lock(&mutex_);
  return under_way_;
}

ShardExecutor::Account ShardEpochs::account() const {
  MutexLock lock(&mutex_);
  ShardExecutor::Account sum = before_;
  if (!executors_.empty()) sum += executors_.back()->account();
  return sum;
}

}  // namespace ringside
