// Makes the connections of a rank to its peers: calls some, is called by others, all at once. In a
// ring it calls the right neighbour and is called by the left one; where everybody talks to
// everybody, it calls the ranks after it and is called by those before it.
#ifndef RINGSIDE_ALLREDUCE_PEER_HANDSHAKE_H_
#define RINGSIDE_ALLREDUCE_PEER_HANDSHAKE_H_

#include <list>
#include <map>
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
class PeerHandshake {
 public:
  struct Call {
    int rank = 0;
    std::string local;  // Unix socket that is tried first; empty: none
    Endpoint tcp;
  };
  struct Config {
    Group group;  // of at least two
    std::vector<Call> calls;
    std::vector<int> callers;    // ranks that will call
    bool shares_memory = false;  // ready to, with peers over a Unix socket
    std::string token;
    std::string plan_hash;
    std::string congestion_control;  // of TCP; empty: the system's default
    absl::Duration connect_timeout;
    absl::Duration hello_timeout;  // for a caller to say hello
  };
  struct Connection {
    std::unique_ptr<Socket> socket;
    bool shares_memory = false;  // both are ready to
  };
  struct Connections {
    std::map<int, Connection> called;  // by rank
    std::map<int, Connection> callers;
  };

  // All are borrowed; `local` may be null.
  PeerHandshake(const Config* config, ListeningSocket* tcp, ListeningSocket* local);

  // UNAVAILABLE or DEADLINE_EXCEEDED, with suspects: a peer was not to be reached, or did not call
  // or answer in time; says whom it refused meanwhile. PERMISSION_DENIED: a called rank refuses the
  // token. FAILED_PRECONDITION: group, generation, wiring or bucket plan differ. INVALID_ARGUMENT:
  // a called rank speaks no or another protocol, or there is no such congestion control. A Unix
  // socket that cannot be reached is no error: TCP takes its place, with a line in the log.
  absl::StatusOr<Connections> Run();

 private:
  struct Caller {
    std::unique_ptr<Socket> socket;
    EncodedRingHello hello = {};
    size_t received = 0;
    absl::Time deadline;
    bool done = false;  // refused, gone, or accepted
  };
  struct Called {
    const Call* call = nullptr;
    std::unique_ptr<Socket> socket;
    EncodedRingHello answer = {};
    size_t received = 0;
    bool welcomed = false;
    bool shares_memory = false;
  };

  bool AllWelcomed() const;
  bool AllCalled() const { return accepted_.size() == config_.callers.size(); }
  absl::Status Dial(const Call& call);
  absl::StatusOr<std::unique_ptr<Socket>> Connect(const Call& call) const;
  absl::Status ReadAnswers();
  absl::Status ReadAnswer(Called* called);
  void AnswerBeforeLeaving();
  absl::Status HearCallers();
  absl::Status AcceptCallers(ListeningSocket* listener);
  // Reads what a caller has sent, and judges it when it is complete. Fails only on an expected
  // caller's own hello.
  absl::Status Hear(Caller* caller);
  absl::Status Answer(Caller* caller, const RingHello& hello);
  // Blocks until a peer or a caller has something to say, a caller has been silent for too long, or
  // `until`.
  absl::Status WaitForSomething(absl::Time until);
  void Refuse(Caller* caller, absl::string_view why);
  absl::Status TimeoutError() const;
  RingHello OwnHello(int receiver, const Socket& socket) const;
  // Whom a caller's hello is judged against: itself where it is expected, else the first one that
  // is.
  int ExpectedCaller(uint32_t sender) const;

  const Config& config_;
  ListeningSocket* const tcp_;
  ListeningSocket* const local_;
  const absl::Time deadline_;

  std::vector<Called> called_;
  std::map<int, Connection> accepted_;
  std::list<Caller> callers_;  // who have not said all of their hello
  bool leaving_ = false;       // no more is expected from the called ranks
  bool answered_any_ = false;
  std::string last_refusal_;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_PEER_HANDSHAKE_H_
