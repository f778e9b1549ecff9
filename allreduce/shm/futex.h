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

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_SHM_FUTEX_H_
