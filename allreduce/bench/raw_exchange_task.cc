#include "allreduce/bench/raw_exchange_task.h"

#include <poll.h>

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "allreduce/bench/stopwatch.h"
#include "allreduce/bench/test_vector.h"
#include "common/network/poll.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// What is moved at a time, and by how much a rank's sending may be ahead of its receiving: bytes
// that wait in the kernel's queues fall out of the caches, and without the second bound the same
// exchange takes up to twice as long.
constexpr int64_t kPieceBytes = 256 << 10;

// The next piece of a stream of `moved` bytes that goes round and round in a vector.
int64_t PieceLength(int64_t done, int64_t moved, int64_t vector_bytes) {
  return std::min({kPieceBytes, moved - done, vector_bytes - done % vector_bytes});
}

}  // namespace

absl::StatusOr<std::unique_ptr<RankTask>> RawExchangeTask::Create(const std::string& transport,
                                                                  RankContext* context) {
  RINGSIDE_ASSIGN_OR_RETURN(
      Neighbours neighbours,
      ConnectNeighbours(transport, context->rank(), context->world_size(),
                        context->setup().congestion_control(), context->exchange(),
                        absl::Now() + context->timeout()));
  RINGSIDE_ASSIGN_OR_RETURN(Arena * input, context->Input());
  RINGSIDE_ASSIGN_OR_RETURN(Arena * output, context->Output());
  return absl::WrapUnique<RankTask>(
      new RawExchangeTask(context, std::move(neighbours), input->span(), output->span()));
}

absl::Status RawExchangeTask::Exchange(int64_t vector_bytes, int64_t moved_bytes) {
  const absl::Time deadline = absl::Now() + context_->timeout();
  auto* from = reinterpret_cast<uint8_t*>(input_.data());
  auto* into = reinterpret_cast<uint8_t*>(output_.data());
  int64_t sent = 0;
  int64_t received = 0;
  while (sent < moved_bytes || received < moved_bytes) {
    pollfd waits[2] = {{-1, 0, 0}, {-1, 0, 0}};
    bool moved = false;
    const int64_t may_send = std::min(moved_bytes, received + kPieceBytes);
    if (sent < may_send) {
      const iovec piece = {from + sent % vector_bytes,
                           static_cast<size_t>(PieceLength(sent, may_send, vector_bytes))};
      RINGSIDE_ASSIGN_OR_RETURN(const ByteStream::Transfer written,
                                neighbours_.right->TryWrite(absl::MakeConstSpan(&piece, 1)));
      sent += static_cast<int64_t>(written.bytes);
      moved = written.bytes > 0;
      if (!moved) waits[0] = {neighbours_.right->fd(), written.wait_for, 0};
    }
    if (received < moved_bytes) {
      RINGSIDE_ASSIGN_OR_RETURN(
          const ByteStream::Transfer read,
          neighbours_.left->TryRead(absl::MakeSpan(
              into + received % vector_bytes,
              static_cast<size_t>(PieceLength(received, moved_bytes, vector_bytes)))));
      received += static_cast<int64_t>(read.bytes);
      moved = moved || read.bytes > 0;
      if (read.bytes == 0) waits[1] = {neighbours_.left->fd(), read.wait_for, 0};
    }
    if (moved) continue;
    RINGSIDE_ASSIGN_OR_RETURN(const bool ready, PollUntil(absl::MakeSpan(waits), deadline));
    if (!ready) {
      return absl::DeadlineExceededError(absl::StrCat("raw exchange: ", sent, " bytes sent, ",
                                                      received, " received of ", moved_bytes));
    }
  }
  return absl::OkStatus();
}

absl::Status RawExchangeTask::Run(const RankRun& run, RankDone* done) {
  const int world_size = context_->world_size();
  const int64_t vector_bytes = run.elements() * int64_t{sizeof(float)};
  // Rounded up to whole elements where the chunks are not all alike.
  const int64_t moved_bytes = (2 * (world_size - 1) * run.elements() + world_size - 1) /
                              world_size * int64_t{sizeof(float)};
  FillTestVector(context_->rank(), input_.first(run.elements()));
  const absl::Span<float> output = output_.first(run.elements());
  std::fill(output.begin(), output.end(), -1.0f);
  absl::Status status;
  for (int i = 0; i < run.warmup() + run.iterations() && status.ok(); ++i) {
    const double seconds = SecondsOf([&] { status = Exchange(vector_bytes, moved_bytes); });
    if (i >= run.warmup()) done->add_durations_s(seconds);
  }
  RINGSIDE_RETURN_IF_ERROR(status);
  const int left = (context_->rank() + world_size - 1) % world_size;
  const auto moved_elements = static_cast<size_t>(moved_bytes / int64_t{sizeof(float)});
  done->set_verified(true);
  done->set_wrong(
      CountOtherThanTestVector(left, output.first(std::min(output.size(), moved_elements))));
  return absl::OkStatus();
}

std::map<std::string, std::string> RawExchangeTask::facts() const {
  const absl::StatusOr<std::string> name = neighbours_.right->is_local()
                                               ? absl::StatusOr<std::string>("")
                                               : neighbours_.right->CongestionControl();
  if (!name.ok() || name->empty()) return {};
  return {{"congestion_control", *name}};
}

}  // namespace ringside
