// Signals as events to wait for, instead of handlers that interrupt.
#ifndef RINGSIDE_EXPERIMENTS_SIGNAL_WAIT_H_
#define RINGSIDE_EXPERIMENTS_SIGNAL_WAIT_H_

#include "absl/time/time.h"

namespace ringside {

// Blocks SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGUSR1 in this thread and all that it starts later.
// Call before any thread exists.
void BlockJobSignals();

// After the last job: from now on Ctrl-C ends this process as usual, also one that came meanwhile.
// In the thread that calls it.
void UnblockJobSignals();

// One that ends a job (SIGINT, SIGTERM, SIGHUP) is there to be waited for. In a thread that blocks
// them.
bool EndOfJobIsAsked();

// Waits for one of those signals and returns its number; 0 when `timeout` is over first.
int WaitForJobSignal(absl::Duration timeout);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SIGNAL_WAIT_H_
