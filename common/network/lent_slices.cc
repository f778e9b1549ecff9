#include "common/network/lent_slices.h"

namespace ringside {

grpc::Slice LentSlices::Lend(absl::Span<const uint8_t> memory) {
  {
    MutexLock lock(&mutex_);
    ++out_;
  }
  return grpc::Slice(const_cast<uint8_t*>(memory.data()), memory.size(), &LentSlices::Return, this);
}

void LentSlices::Return(void* self) {
  auto* lent = static_cast<LentSlices*>(self);
  MutexLock lock(&lent->mutex_);
  if (--lent->out_ == 0) lent->changed_.NotifyAll();
}

bool LentSlices::AwaitReturn(absl::Time deadline, const std::atomic<bool>* give_up) {
  MutexLock lock(&mutex_);
  while (out_ > 0) {
    if (give_up != nullptr && give_up->load()) return false;
    if (!changed_.WaitUntil(&mutex_, deadline)) return out_ == 0;
  }
  return true;
}

void LentSlices::Wake() {
  MutexLock lock(&mutex_);
  changed_.NotifyAll();
}

int64_t LentSlices::out() const {
  MutexLock lock(&mutex_);
  return out_;
}

}  // namespace ringside
