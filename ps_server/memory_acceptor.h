// Shares a shard's memory with the workers of its host: takes their calls on a Unix socket, in a
// thread of its own, checks who calls, and exchanges the files behind the arenas
// (common/shared_memory/memory_hello.h has the words).
//
// A caller that says nothing holds nobody up and is dropped after kHelloTimeout; one that has shown
// the job's token and then stops may hold up those after it for kExchangeTimeout. Neither touches
// the shard, whose frames take other ways. Thread-safe.
#ifndef RINGSIDE_PS_SERVER_MEMORY_ACCEPTOR_H_
#define RINGSIDE_PS_SERVER_MEMORY_ACCEPTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "common/network/socket.h"
#include "common/shared_memory/memory_hello.h"
#include "common/shared_memory/peer_memory.h"
#include "common/shared_memory/shared_arenas.h"

namespace ringside {

class MemoryAcceptor {
 public:
  static constexpr absl::Duration kHelloTimeout = absl::Seconds(5);
  static constexpr absl::Duration kExchangeTimeout = absl::Seconds(5);

  struct Config {
    int shard = 0;
    uint32_t generation = 0;
    int world_size = 1;
    std::string token;
    // Where the results lie. Empty: they are in no shared memory, and callers are told so.
    SharedArenas arenas;
    // Takes the memory of a worker and gives the ticket that its stream will show, not 0. Called
    // from the acceptor's thread.
    std::function<uint64_t(int rank, std::shared_ptr<const PeerMemory> memory)> admit;
  };

  // Calls that came to `listener` before are answered now.
  // `listener` outlives the object.
  MemoryAcceptor(ListeningSocket* listener, Config config);
  // Breaks off what is under way and joins the thread. Memory that was exchanged stays mapped.
  ~MemoryAcceptor();
  MemoryAcceptor(const MemoryAcceptor&) = delete;
  MemoryAcceptor& operator=(const MemoryAcceptor&) = delete;

 private:
  struct Caller {
    std::unique_ptr<Socket> socket;
    absl::Time deadline;
    EncodedMemoryHello hello = {};
    size_t received = 0;
    bool done = false;
  };

  void Run();
  // Blocks until there is something to do. False: this object is to end.
  bool Await();
  absl::Status AcceptCallers();
  // Reads what has come; answers once the hello is complete.
  void Hear(Caller* caller);
  absl::Status Answer(Caller* caller);
  absl::Status Share(Socket* socket, int rank);
  // Remembers the socket on which the thread is about to block, so that the destructor can break it
  // off; -1: none. False: this object is to end.
  bool SetBusy(int fd);

  // Constant after construction.
  const Config config_;
  const MemoryHello own_;
  const FileDescriptor wake_;  // an eventfd

  // Used by the thread alone.
  ListeningSocket* listener_;  // null: it has failed
  std::list<Caller> callers_;

  mutable Mutex mutex_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  int busy_ ABSL_GUARDED_BY(mutex_) = -1;

  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_MEMORY_ACCEPTOR_H_
