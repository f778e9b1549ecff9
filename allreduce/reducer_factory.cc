#include "allreduce/reducer_factory.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "allreduce/direct_all_reducer.h"
#include "allreduce/neighbour_ring_link.h"
#include "allreduce/peer_handshake.h"
#include "allreduce/ring_all_reducer.h"
#include "allreduce/ring_traffic.h"
#include "allreduce/shm/shm_ring_ends.h"
#include "allreduce/stream_ring_ends.h"
#include "common/logging.h"
#include "common/network/host_identity.h"
#include "common/reduction.h"
#include "common/shared_memory/own_memory.h"
#include "common/shared_memory/peer_memory.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

constexpr int64_t kFarLookahead = 16;  // 4 MiB of default segments: 1 Gbit/s over 30 ms
constexpr absl::Duration kHelloTimeout =
    absl::Seconds(5);  // after which a silent caller is dropped

absl::Status OfPeer(const absl::Status& status, int rank) {
  if (status.ok()) return status;
  return WithSuspects(absl::Status(status.code(), absl::StrCat("sharing memory with worker ", rank,
                                                               ": ", status.message())),
                      {WorkerId(rank)});
}

// One MakeReducer.
class Maker {
 public:
  Maker(std::unique_ptr<DataPorts> ports, ReducerConfig config)
      : ports_(std::move(ports)),
        config_(std::move(config)),
        group_(config_.group),
        deadline_(absl::Now() + config_.connect_timeout) {}

  absl::StatusOr<MadeReducer> Make() {
    RINGSIDE_RETURN_IF_ERROR(Check());
    if (group_.size() == 1) return Finish(nullptr);
    return WantsDirect() ? MakeDirect() : MakeRing();
  }

 private:
  using Connection = PeerHandshake::Connection;

  absl::Status Check() const {
    if (!absl::c_linear_search(std::vector<std::string>{"auto", "tcp", "uds", "shm"},
                               config_.link)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--ring_link=", config_.link, ": must be one of auto, tcp, uds, shm"));
    }
    if (group_.index < 0 || group_.index >= group_.size() ||
        (group_.size() > 1 && static_cast<int>(config_.peers.size()) != group_.size())) {
      return absl::InvalidArgumentError(absl::StrCat("index ", group_.index, " of ", group_.size(),
                                                     " ranks with ", config_.peers.size(),
                                                     " addresses"));
    }
    if (config_.schedule == "ring" || config_.schedule == "auto") return absl::OkStatus();
    if (config_.schedule != "direct") {
      return absl::InvalidArgumentError(
          absl::StrCat("--schedule=", config_.schedule, ": must be one of ring, direct, auto"));
    }
    if (group_.size() == 1 || DirectIsPossible()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("--schedule=direct needs all ranks on one host, --ring_link=auto or shm, and "
                     "--wire_dtype=fp32; use --schedule=ring or auto"));
  }

  bool IsNear(int index) const {
    return ports_ != nullptr && ports_->local() != nullptr && !config_.peers[index].local.empty() &&
           SameHost(config_.peers[group_.index].host, config_.peers[index].host);
  }
  bool SharesMemory() const { return config_.link == "auto" || config_.link == "shm"; }
  bool DirectIsPossible() const {
    if (!SharesMemory() || config_.wire_dtype != WireDtype::kFloat32) return false;
    for (int index = 0; index < group_.size(); ++index) {
      if (!IsNear(index)) return false;
    }
    return true;
  }
  // In segments; from what all ranks know, because it must be the same on all. A segment in the
  // caches is cheap to pass on through a socket; shared memory is best read in one go; between
  // hosts the line is to be filled (docs/rationale.md).
  int64_t Lookahead() const {
    for (int index = 0; group_.size() > 1 && index < group_.size(); ++index) {
      if (!SameHost(config_.peers[0].host, config_.peers[index].host)) return kFarLookahead;
    }
    return SharesMemory() ? std::numeric_limits<int64_t>::max() : 1;
  }
  bool WantsDirect() const { return config_.schedule != "ring" && DirectIsPossible(); }

  PeerHandshake::Call CallOf(int index) const {
    const PeerAddress& peer = config_.peers[index];
    const bool local = config_.link != "tcp" && IsNear(index);
    if (!local && (config_.link == "shm" || config_.link == "uds")) {
      LogWarning(absl::StrCat("--ring_link=", config_.link, ": worker ", group_.members[index],
                              " is on another host (", peer.host.hostname(),
                              "); TCP is used instead"));
    }
    return {group_.members[index], local ? peer.local : "", peer.tcp};
  }

  absl::StatusOr<PeerHandshake::Connections> Meet(std::vector<PeerHandshake::Call> calls,
                                                  std::vector<int> callers) {
    PeerHandshake::Config config;
    config.group = group_;
    config.calls = std::move(calls);
    config.callers = std::move(callers);
    config.shares_memory = memory_ != nullptr;
    config.token = config_.token;
    config.plan_hash = config_.plan_hash;
    config.congestion_control = config_.congestion_control;
    config.connect_timeout = config_.connect_timeout;
    config.hello_timeout = kHelloTimeout;
    auto connections = PeerHandshake(&config, ports_->tcp(), ports_->local()).Run();
    ports_.reset();
    return connections;
  }

  void ShareOwnMemory(int64_t control_bytes, int64_t staging_bytes) {
    if (!SharesMemory()) return;
    std::vector<const Arena*> arenas = config_.arenas;
    if (wire_ != nullptr) arenas.push_back(wire_.get());
    auto memory = OwnMemory::Create(control_bytes, staging_bytes, arenas);
    if (memory.ok()) {
      memory_ = *std::move(memory);
    } else {
      LogWarning(absl::StrCat("no shared memory (", memory.status().message(),
                              "); sockets are used instead"));
    }
  }

  absl::StatusOr<MadeReducer> MakeRing() {
    if (config_.wire_dtype != WireDtype::kFloat32 && SharesMemory()) {
      RINGSIDE_ASSIGN_OR_RETURN(
          wire_, Arena::Create((config_.max_elements + 1) / 2, Arena::Placement::kShared));
    }
    ShareOwnMemory(kRingControlBytes, kRingStagingBytes);
    const int right = (group_.index + 1) % group_.size();
    RINGSIDE_ASSIGN_OR_RETURN(PeerHandshake::Connections connections,
                              Meet({CallOf(right)}, {group_.left()}));
    Connection to_right = std::move(connections.called[group_.right()]);
    Connection from_left = std::move(connections.callers[group_.left()]);
    // The right neighbour reads this rank's arenas; the left one only needs to wake it.
    MemoryExchange with_right(to_right.socket.get());
    MemoryExchange with_left(from_left.socket.get());
    const auto exchange = [&](const auto& right_step, const auto& left_step) -> absl::Status {
      if (to_right.shares_memory) {
        RINGSIDE_RETURN_IF_ERROR(OfPeer(right_step(&with_right), group_.right()));
      }
      if (!from_left.shares_memory) return absl::OkStatus();
      return OfPeer(left_step(&with_left), group_.left());
    };
    const auto offer = [this](const std::vector<int>& own) {
      return [this, own](MemoryExchange* with) { return with->Offer(own, deadline_); };
    };
    const auto take = [this](MemoryExchange* with) { return with->Take(deadline_); };
    const auto settle = [this](MemoryExchange* with) { return with->Settle(deadline_); };
    if (memory_ != nullptr) {
      RINGSIDE_RETURN_IF_ERROR(
          exchange(offer(memory_->Descriptors()), offer(memory_->ControlDescriptor())));
      RINGSIDE_RETURN_IF_ERROR(exchange(take, take));
      RINGSIDE_RETURN_IF_ERROR(exchange(settle, settle));
    }
    return Connect(std::move(to_right), &with_right, std::move(from_left), &with_left);
  }

  // Where both could map, their ends are in shared memory.
  absl::StatusOr<MadeReducer> Connect(Connection to_right, MemoryExchange* with_right,
                                      Connection from_left, MemoryExchange* with_left) {
    std::unique_ptr<PeerMemory> right = MemoryOf(to_right, with_right, group_.right());
    std::unique_ptr<PeerMemory> left = MemoryOf(from_left, with_left, group_.left());
    std::unique_ptr<RingSender> sender;
    if (right != nullptr) {
      sender = std::make_unique<ShmRingSender>(memory_.get(), std::move(right),
                                               std::move(to_right.socket), group_.right());
    } else {
      RINGSIDE_ASSIGN_OR_RETURN(sender, StreamSender(std::move(to_right.socket)));
    }
    std::unique_ptr<RingReceiver> receiver;
    if (left != nullptr) {
      receiver = std::make_unique<ShmRingReceiver>(memory_.get(), std::move(left),
                                                   std::move(from_left.socket), group_.left());
    } else {
      RINGSIDE_ASSIGN_OR_RETURN(receiver, StreamReceiver(std::move(from_left.socket)));
    }
    return FinishRing(std::move(receiver), std::move(sender));
  }

  std::unique_ptr<PeerMemory> MemoryOf(const Connection& connection, MemoryExchange* exchange,
                                       int rank) const {
    if (!connection.shares_memory) return nullptr;
    std::unique_ptr<PeerMemory> memory = exchange->memory();
    if (memory == nullptr) {
      LogWarning(absl::StrCat("no shared memory with worker ", rank, " (", exchange->why(),
                              "); a Unix socket is used instead"));
    }
    return memory;
  }

  absl::StatusOr<std::unique_ptr<RingSender>> StreamSender(std::shared_ptr<Socket> socket) {
    if (!socket->is_local()) {
      RINGSIDE_ASSIGN_OR_RETURN(made_.facts["congestion_control"], socket->CongestionControl());
    }
    const std::string link = socket->is_local() ? "uds" : "tcp";
    return std::make_unique<StreamRingSender>(std::move(socket), group_.right(), link);
  }

  absl::StatusOr<std::unique_ptr<RingReceiver>> StreamReceiver(std::shared_ptr<Socket> socket) {
    const std::string link = socket->is_local() ? "uds" : "tcp";
    return StreamRingReceiver::Create(std::move(socket), group_.left(), link);
  }

  absl::StatusOr<MadeReducer> FinishRing(std::unique_ptr<RingReceiver> receiver,
                                         std::unique_ptr<RingSender> sender) {
    reads_in_place_ = receiver->link() == "shm";
    made_.facts["left_link"] = receiver->link();
    made_.facts["right_link"] = sender->link();
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<RingLink> link,
                              NeighbourRingLink::Create(group_, std::move(memory_),
                                                        std::move(receiver), std::move(sender)));
    return Finish(std::move(link));
  }

  absl::StatusOr<MadeReducer> Finish(std::unique_ptr<RingLink> link) {
    RingParts parts;
    parts.link = std::move(link);
    parts.wire = std::move(wire_);
    parts.lookahead = Lookahead();
    parts.in_place_link = reads_in_place_;
    RINGSIDE_ASSIGN_OR_RETURN(MadeReducer made, MakeRingOf(std::move(parts), config_));
    made.facts.insert(made_.facts.begin(), made_.facts.end());
    return made;
  }

  absl::StatusOr<MadeReducer> MakeDirect() {
    ShareOwnMemory(DirectAllReducer::kControlBytes, DirectAllReducer::kStagingBytes);
    std::vector<PeerHandshake::Call> calls;
    std::vector<int> callers;
    for (int index = 0; index < group_.size(); ++index) {
      if (index < group_.index) callers.push_back(group_.members[index]);
      if (index > group_.index) calls.push_back(CallOf(index));
    }
    RINGSIDE_ASSIGN_OR_RETURN(PeerHandshake::Connections connections,
                              Meet(std::move(calls), std::move(callers)));
    std::vector<Connection> all(group_.size());
    for (int index = 0; index < group_.size(); ++index) {
      auto& from = index < group_.index ? connections.callers : connections.called;
      if (index != group_.index) all[index] = std::move(from[group_.members[index]]);
    }
    std::vector<std::unique_ptr<PeerMemory>> memories;
    RINGSIDE_ASSIGN_OR_RETURN(memories, ShareWithAll(all));
    if (memories.empty()) return RingOver(std::move(all));
    DirectAllReducer::Config config;
    config.group = group_;
    config.memory = std::move(memory_);
    config.step_timeout = config_.step_timeout;
    for (int index = 0; index < group_.size(); ++index) {
      config.peers.push_back({std::move(memories[index]), std::move(all[index].socket)});
    }
    made_.expected_traffic = [size = group_.size(),
                              index = group_.index](absl::Span<const int64_t> elements) {
      return DirectTraffic(elements, size, index);
    };
    RINGSIDE_ASSIGN_OR_RETURN(made_.reducer, DirectAllReducer::Create(std::move(config)));
    made_.schedule = "direct";
    made_.facts["left_link"] = made_.facts["right_link"] = "shm";
    made_.facts["cpu_kernels"] = std::string(CpuKernels());
    return std::move(made_);
  }

  // Everybody's memory by index; empty, on all ranks, where any two could not share.
  absl::StatusOr<std::vector<std::unique_ptr<PeerMemory>>> ShareWithAll(
      const std::vector<Connection>& all) {
    std::vector<std::unique_ptr<PeerMemory>> memories(all.size());
    std::string why;
    // Pairs exchange in the order of their ranks, which is the same everywhere: nobody waits in a
    // circle.
    for (size_t index = 0; index < all.size(); ++index) {
      const int rank = group_.members[index];
      if (all[index].socket == nullptr) continue;
      if (!all[index].shares_memory) {
        why = absl::StrCat("worker ", rank, " shares none");
        continue;
      }
      MemoryExchange exchange(all[index].socket.get());
      RINGSIDE_RETURN_IF_ERROR(OfPeer(exchange.Offer(memory_->Descriptors(), deadline_), rank));
      RINGSIDE_RETURN_IF_ERROR(OfPeer(exchange.Take(deadline_), rank));
      RINGSIDE_RETURN_IF_ERROR(OfPeer(exchange.Settle(deadline_), rank));
      memories[index] = exchange.memory();
      if (memories[index] == nullptr) why = absl::StrCat("worker ", rank, ": ", exchange.why());
    }
    RINGSIDE_ASSIGN_OR_RETURN(const bool all_share, Agree(all, why.empty()));
    if (all_share) return memories;
    LogWarning(absl::StrCat("not all ranks share memory",
                            why.empty() ? "" : absl::StrCat(" (", why, ")"),
                            "; a ring over sockets is used instead of the direct schedule"));
    return std::vector<std::unique_ptr<PeerMemory>>();
  }

  // Whether all ranks say yes.
  absl::StatusOr<bool> Agree(const std::vector<Connection>& all, bool own) {
    const uint8_t vote = own ? 1 : 0;
    for (size_t index = 0; index < all.size(); ++index) {
      if (all[index].socket == nullptr) continue;
      RINGSIDE_RETURN_IF_ERROR(
          OfPeer(WriteFully(all[index].socket.get(), absl::MakeConstSpan(&vote, 1), deadline_),
                 group_.members[index]));
    }
    bool agreed = own;
    for (size_t index = 0; index < all.size(); ++index) {
      if (all[index].socket == nullptr) continue;
      uint8_t theirs = 0;
      RINGSIDE_RETURN_IF_ERROR(
          OfPeer(ReadFully(all[index].socket.get(), absl::MakeSpan(&theirs, 1), deadline_),
                 group_.members[index]));
      agreed = agreed && theirs == 1;
    }
    return agreed;
  }

  // The connections of a direct schedule that is not to be had carry a ring as well. Of two ranks
  // each has one connection, used both ways.
  absl::StatusOr<MadeReducer> RingOver(std::vector<Connection> all) {
    memory_.reset();
    const int size = group_.size();
    std::vector<std::shared_ptr<Socket>> sockets;
    for (Connection& connection : all) sockets.push_back(std::move(connection.socket));
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<RingSender> sender,
                              StreamSender(sockets[(group_.index + 1) % size]));
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<RingReceiver> receiver,
                              StreamReceiver(sockets[(group_.index + size - 1) % size]));
    return FinishRing(std::move(receiver), std::move(sender));
  }

  std::unique_ptr<DataPorts> ports_;
  const ReducerConfig config_;
  const Group& group_;
  const absl::Time deadline_;
  std::unique_ptr<Arena> wire_;
  std::unique_ptr<OwnMemory> memory_;  // null: none is shared
  bool reads_in_place_ = false;        // the left neighbour's memory
  MadeReducer made_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DataPorts>> DataPorts::Open(const BindAddress& bind) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<ListeningSocket> tcp, ListeningSocket::Bind(bind));
  PeerAddress address;
  address.tcp = {bind.advertise_host.empty() ? bind.listen_host : bind.advertise_host, tcp->port()};
  address.host = ReadHostIdentity();
  std::unique_ptr<ListeningSocket> local;
  absl::StatusOr<std::unique_ptr<ListeningSocket>> bound = ListeningSocket::BindLocal();
  if (bound.ok()) {
    local = *std::move(bound);
    address.local = local->name();
  } else {
    LogWarning(absl::StrCat(bound.status().message(), "; peers are reached by TCP alone"));
  }
  return absl::WrapUnique(new DataPorts(std::move(tcp), std::move(local), std::move(address)));
}

absl::StatusOr<MadeReducer> MakeRingOf(RingParts parts, const ReducerConfig& config) {
  RingAllReducer::Config ring;
  ring.group = config.group;
  ring.link = std::move(parts.link);
  ring.segment_bytes = std::min(config.segment_bytes, kMaxFramePayloadBytes);
  ring.lookahead = parts.lookahead;
  ring.in_place_link = parts.in_place_link;
  ring.step_timeout = config.step_timeout;
  ring.trace = config.trace;
  if (config.group.size() > 1) {
    ring.wire_dtype = config.wire_dtype;
    ring.wire = std::move(parts.wire);
  }
  if (ring.wire_dtype != WireDtype::kFloat32 && ring.wire == nullptr) {
    RINGSIDE_ASSIGN_OR_RETURN(
        ring.wire, Arena::Create((config.max_elements + 1) / 2, Arena::Placement::kHeap));
  }
  MadeReducer made;
  made.schedule = "ring";
  made.facts["cpu_kernels"] = std::string(CpuKernels());
  const int64_t segment_elements = ring.segment_bytes / static_cast<int64_t>(sizeof(float));
  made.expected_traffic = [size = config.group.size(), index = config.group.index, segment_elements,
                           dtype = config.wire_dtype](absl::Span<const int64_t> elements) {
    return RingTraffic(elements, size, index, segment_elements, dtype);
  };
  RINGSIDE_ASSIGN_OR_RETURN(made.reducer, RingAllReducer::Create(std::move(ring)));
  return made;
}

absl::StatusOr<MadeReducer> MakeReducer(std::unique_ptr<DataPorts> ports, ReducerConfig config) {
  return Maker(std::move(ports), std::move(config)).Make();
}

}  // namespace ringside
