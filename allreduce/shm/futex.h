// Linux's futex between processes (futex(2)): sleep while a word has a value, wake who sleeps on
// it.
#ifndef RINGSIDE_ALLREDUCE_SHM_FUTEX_H_
#define RINGSIDE_ALLREDUCE_SHM_FUTEX_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

namespace ringside {

// Returns when woken, when `longest` is over, when the word is not `value`, or for no reason.
void SleepWhile(std::atomic<uint32_t>* word, uint32_t value, absl::Duration longest);
void WakeAll(std::atomic<uint32_t>* word);

// Looks at a condition for a few microseconds: shorter than a sleep and its end take. No longer,
// because with more ranks than cores the one that is waited for may need this very core.
template <typename Condition>
bool Spin(const Condition& condition) {
  constexpr int kPauses = 200;
  for (int i = 0; i < kPauses; ++i) {
    if (condition()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return condition();
}

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_SHM_FUTEX_H_
