#include "common/network/byte_stream.h"

#include "absl/strings/str_cat.h"
#include "common/network/poll.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// Repeats `move(offset)` until `size` bytes are through.
template <typename Move>
absl::Status MoveFully(ByteStream* stream, size_t size, absl::Time deadline, absl::string_view verb,
                       const Move& move) {
  size_t moved = 0;
  while (moved < size) {
    const absl::StatusOr<ByteStream::Transfer> transfer = move(moved);
    if (!transfer.ok()) {
      return absl::Status(transfer.status().code(),
                          absl::StrCat(transfer.status().message(), " after ", moved, " of ", size,
                                       " bytes were ", verb));
    }
    moved += transfer->bytes;
    if (transfer->bytes > 0) continue;
    pollfd entry = {stream->fd(), transfer->wait_for, 0};
    RINGSIDE_ASSIGN_OR_RETURN(const bool ready, PollUntil(absl::MakeSpan(&entry, 1), deadline));
    if (!ready) {
      return absl::DeadlineExceededError(
          absl::StrCat("only ", moved, " of ", size, " bytes ", verb, " in time"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadFully(ByteStream* stream, absl::Span<uint8_t> into, absl::Time deadline) {
  return MoveFully(stream, into.size(), deadline, "read",
                   [&](size_t offset) { return stream->TryRead(into.subspan(offset)); });
}

absl::Status WriteFully(ByteStream* stream, absl::Span<const uint8_t> from, absl::Time deadline) {
  return MoveFully(stream, from.size(), deadline, "written", [&](size_t offset) {
    // iovec serves readv too, hence its pointer to non-const.
    const iovec piece = {const_cast<uint8_t*>(from.data()) + offset, from.size() - offset};
    return stream->TryWrite(absl::MakeConstSpan(&piece, 1));
  });
}

}  // namespace ringside
