// SIGTERM as an event, so that what is kept can be saved before the process ends.
#ifndef RINGSIDE_PS_SERVER_TERMINATION_SIGNAL_H_
#define RINGSIDE_PS_SERVER_TERMINATION_SIGNAL_H_

#include <functional>
#include <memory>

namespace ringside {

// From its construction on, SIGTERM ends the process with the exit status of a process that it
// killed, 128 + SIGTERM. While the object exists, `save` is called before, from a thread of its
// own; it may block. One object a process.
class TerminationSignal {
 public:
  // Blocks the signal in the calling thread, and so in those that it starts: create it before any
  // other thread exists.
  explicit TerminationSignal(std::function<void()> save);
  // On return `save` neither runs nor will be called, so what it refers to may go. Where it runs,
  // the process ends before that.
  ~TerminationSignal();
  TerminationSignal(const TerminationSignal&) = delete;
  TerminationSignal& operator=(const TerminationSignal&) = delete;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // the thread has it too, to the end of the process
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_TERMINATION_SIGNAL_H_
