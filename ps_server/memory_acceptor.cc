#include "ps_server/memory_acceptor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/base/internal/endian.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/check.h"
#include "common/logging.h"
#include "common/network/poll.h"
#include "common/sha256.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// That are heard at a time; the oldest gives way.
constexpr size_t kMaxCallers = 1024;

}  // namespace

MemoryAcceptor::MemoryAcceptor(ListeningSocket* listener, Config config)
    : config_(std::move(config)),
      own_{config_.generation, static_cast<uint32_t>(config_.shard), 0,
           Sha256Hex(absl::string_view(config_.token))},
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      listener_(listener) {
  if (wake_.valid()) {
    thread_ = std::thread([this] { Run(); });
  } else {
    LogWarning("no shared memory with workers: the system gives out no event file");
    listener_ = nullptr;  // callers see a closed connection
  }
}

MemoryAcceptor::~MemoryAcceptor() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(&mutex_);
    ending_ = true;
    if (busy_ >= 0) shutdown(busy_, SHUT_RDWR);
  }
  const uint64_t one = 1;
  RINGSIDE_CHECK(write(wake_.get(), &one, sizeof(one)) == sizeof(one));
  thread_.join();
}

void MemoryAcceptor::Run() {
  while (Await()) {
    const absl::Status status = AcceptCallers();
    if (!status.ok()) {
      LogWarning(absl::StrCat("no shared memory with further workers: ", status.message()));
      listener_ = nullptr;
      callers_.clear();
      return;
    }
    for (Caller& caller : callers_) Hear(&caller);
    callers_.remove_if([](const Caller& caller) { return caller.done; });
  }
}

bool MemoryAcceptor::Await() {
  std::vector<pollfd> entries = {{wake_.get(), POLLIN, 0}, {listener_->fd(), POLLIN, 0}};
  absl::Time until = absl::InfiniteFuture();
  for (const Caller& caller : callers_) {
    entries.push_back({caller.socket->fd(), POLLIN, 0});
    until = std::min(until, caller.deadline);
  }
  const absl::StatusOr<bool> ready = PollUntil(absl::MakeSpan(entries), until);
  if (!ready.ok()) LogWarning(absl::StrCat("memory of workers: ", ready.status().message()));
  return ready.ok() && entries[0].revents == 0;
}

absl::Status MemoryAcceptor::AcceptCallers() {
  for (;;) {
    absl::StatusOr<std::unique_ptr<Socket>> socket = listener_->Accept(absl::InfinitePast());
    if (absl::IsDeadlineExceeded(socket.status())) return absl::OkStatus();
    RINGSIDE_RETURN_IF_ERROR(socket.status());
    if (callers_.size() == kMaxCallers) callers_.pop_front();
    Caller& caller = callers_.emplace_back();
    caller.socket = *std::move(socket);
    caller.deadline = absl::Now() + kHelloTimeout;
  }
}

void MemoryAcceptor::Hear(Caller* caller) {
  const absl::StatusOr<ByteStream::Transfer> transfer =
      caller->socket->TryRead(absl::MakeSpan(caller->hello).subspan(caller->received));
  if (transfer.ok()) caller->received += transfer->bytes;
  if (transfer.ok() && caller->received < caller->hello.size()) {
    caller->done = absl::Now() >= caller->deadline;
    return;
  }
  caller->done = true;
  const absl::Status status = transfer.ok() ? Answer(caller) : transfer.status();
  // What it was about, the worker says: it goes on over gRPC.
  if (!status.ok()) {
    LogWarning(absl::StrCat("shares no memory with a caller (", PeerText(*caller->socket),
                            "): ", status.message()));
  }
}

absl::Status MemoryAcceptor::Answer(Caller* caller) {
  RINGSIDE_ASSIGN_OR_RETURN(const MemoryHello hello, DecodeMemoryHello(caller->hello));
  MemoryVerdict verdict = Judge(own_, config_.world_size, hello);
  if (verdict == MemoryVerdict::kWelcome && config_.arenas.empty())
    verdict = MemoryVerdict::kNoMemory;
  const auto byte = static_cast<uint8_t>(verdict);
  // A new connection takes a byte at once; if not, the caller is gone.
  RINGSIDE_RETURN_IF_ERROR(
      WriteFully(caller->socket.get(), absl::MakeConstSpan(&byte, 1), absl::InfinitePast()));
  if (verdict == MemoryVerdict::kNoMemory) return absl::OkStatus();
  if (verdict != MemoryVerdict::kWelcome) {
    return absl::PermissionDeniedError(RefusalText(verdict));
  }
  if (!SetBusy(caller->socket->fd())) return absl::CancelledError("the shard ends");
  absl::Status status = Share(caller->socket.get(), static_cast<int>(hello.rank));
  SetBusy(-1);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("worker ", hello.rank, ": ", status.message()));
}

absl::Status MemoryAcceptor::Share(Socket* socket, int rank) {
  const absl::Time deadline = absl::Now() + kExchangeTimeout;
  MemoryExchange exchange(socket, PeerMemory::Access::kRead);
  RINGSIDE_RETURN_IF_ERROR(exchange.Offer(config_.arenas.Descriptors(), deadline));
  RINGSIDE_RETURN_IF_ERROR(exchange.Take(deadline));
  RINGSIDE_RETURN_IF_ERROR(exchange.Settle(deadline));
  std::shared_ptr<const PeerMemory> memory = exchange.memory();
  if (memory == nullptr) return absl::UnavailableError(exchange.why());
  // Only now, so that the stream finds the memory that its ticket is for.
  const uint64_t ticket = config_.admit(rank, std::move(memory));
  std::array<uint8_t, kMemoryTicketBytes> bytes;
  absl::little_endian::Store64(bytes.data(), ticket);
  return WriteFully(socket, bytes, deadline);
}

bool MemoryAcceptor::SetBusy(int fd) {
  MutexLock lock(&mutex_);
  busy_ = fd;
  return !ending_;
}

}  // namespace ringside
