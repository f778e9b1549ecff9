// Makes the all-reducer that --ring_link, --schedule and --wire_dtype ask for, over whatever the
// neighbours can reach each other by.
//
// In two phases, because a rank must publish where it listens before it learns who its peers are:
//   ports = DataPorts::Open(bind);  publish ports->address();  made = MakeReducer(ports, config).
#ifndef RINGSIDE_ALLREDUCE_REDUCER_FACTORY_H_
#define RINGSIDE_ALLREDUCE_REDUCER_FACTORY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "allreduce/all_reducer.h"
#include "allreduce/ring_link.h"
#include "common/arena.h"
#include "common/frame_codec.h"
#include "common/group.h"
#include "common/network/bind_address.h"
#include "common/network/endpoint.h"
#include "common/network/socket.h"
#include "common/trace/trace_buffer.h"
#include "coordinator.pb.h"

namespace ringside {

// Where a rank is to be reached; every rank publishes one.
struct PeerAddress {
  Endpoint tcp;
  std::string local;  // name of an abstract Unix socket; empty: none
  HostIdentity host;
};

// What a rank listens on: a TCP port and a Unix socket without a file. Peers may connect from now
// on; they wait in the kernel's queue until MakeReducer.
class DataPorts {
 public:
  // UNAVAILABLE: no port of the range is free; names address and range.
  static absl::StatusOr<std::unique_ptr<DataPorts>> Open(const BindAddress& bind);

  const PeerAddress& address() const { return address_; }
  ListeningSocket* tcp() { return tcp_.get(); }
  ListeningSocket* local() { return local_.get(); }  // null: there are no Unix sockets here

 private:
  DataPorts(std::unique_ptr<ListeningSocket> tcp, std::unique_ptr<ListeningSocket> local,
            PeerAddress address)
      : tcp_(std::move(tcp)), local_(std::move(local)), address_(std::move(address)) {}

  const std::unique_ptr<ListeningSocket> tcp_;
  const std::unique_ptr<ListeningSocket> local_;
  const PeerAddress address_;
};

struct ReducerConfig {
  Group group;
  std::vector<PeerAddress> peers;  // by index in the group
  std::string link = "auto";       // auto, tcp, uds, shm
  std::string schedule = "ring";   // ring, direct, auto
  WireDtype wire_dtype = WireDtype::kFloat32;
  int64_t segment_bytes = 256 << 10;
  int64_t max_elements = 0;  // of one sum; used by 16-bit wire dtypes alone
  // Sums whose buffers lie in these shared arenas are read by the others where they are; all other
  // buffers are copied on the way. They must outlive the reducer. Others than shared ones are
  // ignored.
  std::vector<const Arena*> arenas;
  std::string token;
  std::string plan_hash;
  std::string congestion_control;                   // of TCP; empty: the system's default
  TraceBuffer* trace = nullptr;                     // of the ring; RingAllReducer::Config
  absl::Duration step_timeout = absl::Seconds(60);  // for one Sum
  absl::Duration connect_timeout = absl::Seconds(60);
};

struct MadeReducer {
  std::unique_ptr<AllReducer> reducer;
  std::string schedule;  // ring or direct: what was made of "auto"
  // "left_link", "right_link", "congestion_control" (of TCP), "cpu_kernels": what is in force.
  std::map<std::string, std::string> facts;
  // By formula, for one sum of each of these lengths.
  std::function<TrafficCounters(absl::Span<const int64_t> elements)> expected_traffic;
};

// Blocks until all links are up. What cannot be had (shared memory between hosts, a mapping that
// fails) is replaced by the next best link, with one line in the log that says so. The ports are
// closed in any case. Errors as those of PeerHandshake. INVALID_ARGUMENT: an unknown link or
// schedule, a direct schedule asked for where ranks share no memory or with a 16-bit wire dtype.
absl::StatusOr<MadeReducer> MakeReducer(std::unique_ptr<DataPorts> ports, ReducerConfig config);

// What a ring is made of beside its settings.
struct RingParts {
  std::unique_ptr<RingLink> link;  // none for a ring of one
  std::unique_ptr<Arena> wire;     // for a 16-bit wire dtype; none: one on the heap is made
  int64_t lookahead = 1;           // as RingAllReducer::Config has them
  bool in_place_link = false;
};

// The ring over a link that is up already; for links that MakeReducer does not know. Of the config
// it uses group, wire dtype, segments, max_elements and step timeout. Facts: "cpu_kernels".
absl::StatusOr<MadeReducer> MakeRingOf(RingParts parts, const ReducerConfig& config);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_REDUCER_FACTORY_H_
