// Makes the two connections of a rank in a ring: calls the right neighbour, is called by the left
// one, both at once.
#ifndef RINGSIDE_ALLREDUCE_RING_HANDSHAKE_H_
#define RINGSIDE_ALLREDUCE_RING_HANDSHAKE_H_

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "allreduce/ring_hello.h"
#include "common/group.h"
#include "common/network/endpoint.h"
#include "common/network/socket.h"

namespace ringside {

// Used once, by one thread. Whoever else connects (a port scanner, a process of another job or
// generation) is refused and forgotten: strangers neither end the handshake nor hold it up.
class RingHandshake {
 public:
  struct Config {
    Group group;  // of at least two
    Endpoint right;
    std::string token;
    std::string plan_hash;
    std::string congestion_control;  // empty: the system's default
    absl::Duration connect_timeout;
    absl::Duration hello_timeout;  // for a caller to say hello
  };
  struct Neighbours {
    std::unique_ptr<Socket> left;   // received from
    std::unique_ptr<Socket> right;  // sent to
  };

  // Both are borrowed.
  RingHandshake(const Config* config, ListeningSocket* listener);

  // UNAVAILABLE or DEADLINE_EXCEEDED, with suspects: a neighbour was not to be reached, or did not
  // call or answer in time; says whom it refused meanwhile. PERMISSION_DENIED: the right neighbour
  // refuses the token. FAILED_PRECONDITION: group, generation, wiring or bucket plan differ.
  // INVALID_ARGUMENT: the right neighbour speaks no or another protocol, or there is no such
  // congestion control.
  absl::StatusOr<Neighbours> Run();

 private:
  struct Caller {
    std::unique_ptr<Socket> socket;
    EncodedRingHello hello = {};
    size_t received = 0;
    absl::Time deadline;
    bool done = false;  // refused, gone, or become the left neighbour
  };

  absl::Status CallRight();
  absl::Status ReadAnswer();
  void AnswerBeforeLeaving();
  absl::Status HearCallers();
  absl::Status AcceptCallers();
  // Reads what a caller has sent, and judges it when it is complete. Fails only on the left
  // neighbour's own hello.
  absl::Status Hear(Caller* caller);
  // Blocks until a neighbour or a caller has something to say, a caller has been silent for too
  // long, or `until`.
  absl::Status WaitForSomething(absl::Time until);
  void Refuse(Caller* caller, absl::string_view why);
  absl::Status TimeoutError() const;
  RingHello OwnHello(int receiver) const;

  const Config& config_;
  ListeningSocket& listener_;
  const absl::Time deadline_;

  std::unique_ptr<Socket> right_;
  EncodedRingHello answer_ = {};
  size_t answer_received_ = 0;
  bool welcomed_ = false;
  std::unique_ptr<Socket> left_;
  std::list<Caller> callers_;  // who have not said all of their hello
  bool answered_any_ = false;
  std::string last_refusal_;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_RING_HANDSHAKE_H_
