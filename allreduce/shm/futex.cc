#include "allreduce/shm/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace ringside {
namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free, "shared between processes");

uint32_t* Word(std::atomic<uint32_t>* atomic) { return reinterpret_cast<uint32_t*>(atomic); }

}  // namespace

void SleepWhile(std::atomic<uint32_t>* word, uint32_t value, absl::Duration longest) {
  const timespec time = absl::ToTimespec(longest);
  syscall(SYS_futex, Word(word), FUTEX_WAIT, value, &time, nullptr, 0);
}

void WakeAll(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, Word(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace ringside
