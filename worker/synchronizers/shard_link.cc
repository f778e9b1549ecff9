#include "worker/synchronizers/shard_link.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/base/internal/endian.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/logging.h"
#include "common/network/grpc_server.h"
#include "common/network/poll.h"
#include "common/network/socket.h"
#include "common/sha256.h"
#include "common/shared_memory/memory_hello.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// How often whoever waits asks whether it is to go on.
constexpr absl::Duration kAskEvery = absl::Milliseconds(50);
// A shard that has begun to answer is done at once.
constexpr absl::Duration kExchangeTimeout = absl::Seconds(5);

struct Shared {
  std::shared_ptr<const PeerMemory> memory;
  uint64_t ticket = 0;
};

// Blocks until the shard has something to say: it lets callers wait until it knows the job, or is
// ready again after a loss.
absl::Status AwaitAnswer(const Socket& socket, absl::Time deadline,
                         const std::function<absl::Status()>& interrupted) {
  for (;;) {
    RINGSIDE_RETURN_IF_ERROR(interrupted());
    pollfd readable = {socket.fd(), POLLIN, 0};
    RINGSIDE_ASSIGN_OR_RETURN(
        const bool ready,
        PollUntil(absl::MakeSpan(&readable, 1), std::min(deadline, absl::Now() + kAskEvery)));
    if (ready) return absl::OkStatus();
    if (absl::Now() >= deadline) return absl::DeadlineExceededError("no answer in time");
  }
}

// UNAVAILABLE, and any other code but DEADLINE_EXCEEDED: there is no shared memory to be had,
// unless `interrupted` has an error.
absl::StatusOr<Shared> ShareMemory(const ShardLinkConfig& config, const SharedArenas& own,
                                   absl::Time deadline,
                                   const std::function<absl::Status()>& interrupted) {
  if (own.empty()) {
    return absl::UnavailableError("the gradients of this worker are not in shared memory");
  }
  RINGSIDE_ASSIGN_OR_RETURN(const std::unique_ptr<Socket> socket,
                            Socket::ConnectLocal(config.address.memory));
  const EncodedMemoryHello hello = Encode(
      MemoryHello{config.generation, static_cast<uint32_t>(config.shard),
                  static_cast<uint32_t>(config.rank), Sha256Hex(absl::string_view(config.token))});
  RINGSIDE_RETURN_IF_ERROR(WriteFully(socket.get(), hello, deadline));
  RINGSIDE_RETURN_IF_ERROR(AwaitAnswer(*socket, deadline, interrupted));
  deadline = std::min(deadline, absl::Now() + kExchangeTimeout);
  uint8_t answer = 0;
  RINGSIDE_RETURN_IF_ERROR(ReadFully(socket.get(), absl::MakeSpan(&answer, 1), deadline));
  const auto verdict = static_cast<MemoryVerdict>(answer);
  if (verdict != MemoryVerdict::kWelcome) return absl::UnavailableError(RefusalText(verdict));
  MemoryExchange exchange(socket.get(), PeerMemory::Access::kRead);
  RINGSIDE_RETURN_IF_ERROR(exchange.Offer(own.Descriptors(), deadline));
  RINGSIDE_RETURN_IF_ERROR(exchange.Take(deadline));
  RINGSIDE_RETURN_IF_ERROR(exchange.Settle(deadline));
  Shared shared;
  shared.memory = exchange.memory();
  if (shared.memory == nullptr) return absl::UnavailableError(exchange.why());
  std::array<uint8_t, kMemoryTicketBytes> ticket;
  RINGSIDE_RETURN_IF_ERROR(ReadFully(socket.get(), absl::MakeSpan(ticket), deadline));
  shared.ticket = absl::little_endian::Load64(ticket.data());
  return shared;
}

// The transport that is asked for, before it has been tried.
absl::StatusOr<std::string> Choose(const ShardLinkConfig& config) {
  const ShardAddress& address = config.address;
  const std::string& link = config.ps_link;
  if (link == "auto") return address.same_host && !address.memory.empty() ? "shm" : "grpc_tcp";
  if (link == "grpc_tcp") return link;
  if (link != "grpc_uds" && link != "shm") {
    return absl::InvalidArgumentError(
        absl::StrCat("--ps_link=", link, ": must be one of auto, grpc_tcp, grpc_uds, shm"));
  }
  if (!address.same_host) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--ps_link=", link, ": shard ", config.shard, " at ", ToString(address),
        " is on another host than worker ", config.rank, "; use --ps_link=grpc_tcp or auto"));
  }
  if (link == "grpc_uds" && address.local.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("--ps_link=grpc_uds: shard ", config.shard,
                                                      " does not listen on a Unix socket; use "
                                                      "--ps_link=grpc_tcp or auto"));
  }
  return link;
}

}  // namespace

absl::StatusOr<ShardLink> OpenShardLink(const ShardLinkConfig& config, const SharedArenas& own,
                                        absl::Time deadline,
                                        const std::function<absl::Status()>& interrupted) {
  RINGSIDE_RETURN_IF_ERROR(interrupted());
  ShardLink link;
  RINGSIDE_ASSIGN_OR_RETURN(const std::string chosen, Choose(config));
  const ShardAddress& address = config.address;
  const bool local = chosen != "grpc_tcp" && !address.local.empty();
  link.name = local ? "grpc_uds" : "grpc_tcp";
  link.target = local ? LocalGrpcTarget(address.local) : ToString(address.tcp);
  if (chosen != "shm") return link;
  absl::StatusOr<Shared> shared = absl::UnavailableError("it has no socket for it");
  if (!address.memory.empty()) {
    shared = ShareMemory(config, own, deadline, interrupted);
    RINGSIDE_RETURN_IF_ERROR(interrupted());
  }
  if (shared.ok()) {
    link.name = "shm";
    link.memory = std::move(shared->memory);
    link.ticket = shared->ticket;
  } else if (absl::IsDeadlineExceeded(shared.status())) {
    return WithSuspects(absl::DeadlineExceededError(absl::StrCat(
                            "worker ", config.rank, ": no answer from shard ", config.shard, " at ",
                            ToString(address), " about shared memory in time")),
                        {ShardId(config.shard)});
  } else {
    LogWarning(absl::StrCat("no shared memory with shard ", config.shard, " (",
                            shared.status().message(), "); ", link.name, " is used instead"));
  }
  return link;
}

std::string LinksInForce(const std::vector<ShardLink>& links) {
  std::set<std::string> names;
  for (const ShardLink& link : links) names.insert(link.name);
  return absl::StrJoin(names, ",");
}

}  // namespace ringside
