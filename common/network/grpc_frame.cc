#include "common/network/grpc_frame.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

using Slices = std::vector<grpc::Slice>;

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed frame: ", what));
}

absl::StatusOr<std::shared_ptr<Slices>> SlicesOf(const grpc::ByteBuffer& message) {
  auto slices = std::make_shared<Slices>();
  if (!message.Dump(slices.get()).ok()) return Malformed("it cannot be read");
  return slices;
}

// Copies the first `into.size()` bytes, or as many as there are; returns how many.
size_t CopyStart(const Slices& slices, absl::Span<uint8_t> into) {
  size_t have = 0;
  for (const grpc::Slice& slice : slices) {
    const size_t take = std::min(slice.size(), into.size() - have);
    if (take == 0) continue;
    std::memcpy(into.data() + have, slice.begin(), take);
    have += take;
  }
  return have;
}

// What follows the header.
std::vector<FramePayload::Piece> PayloadPieces(const Slices& slices) {
  size_t skip = kFrameHeaderBytes;
  std::vector<FramePayload::Piece> pieces;
  pieces.reserve(slices.size());
  for (const grpc::Slice& slice : slices) {
    const size_t skipped = std::min(slice.size(), skip);
    skip -= skipped;
    if (skipped < slice.size())
      pieces.emplace_back(slice.begin() + skipped, slice.size() - skipped);
  }
  return pieces;
}

absl::StatusOr<FrameHeader> FirstHeader(const Slices& slices) {
  EncodedFrameHeader bytes;
  return DecodeFrameHeader({bytes.data(), CopyStart(slices, absl::MakeSpan(bytes))});
}

absl::StatusOr<ReceivedFrame> FrameWithPayload(const FrameHeader& header,
                                               std::shared_ptr<Slices> slices) {
  std::vector<FramePayload::Piece> pieces = PayloadPieces(*slices);
  ReceivedFrame frame{header, FramePayload(std::move(pieces), std::move(slices))};
  if (frame.payload.bytes() == header.payload_bytes()) return frame;
  return Malformed(absl::StrCat(frame.payload.bytes(), " payload bytes in the ", Describe(header)));
}

absl::StatusOr<ReceivedFrame> FrameInMemory(const FrameHeader& header,
                                            const std::shared_ptr<const PeerMemory>& memory) {
  if (header.location == 0)
    return Malformed(absl::StrCat("the ", Describe(header), " has neither payload nor location"));
  if (memory == nullptr) {
    return Malformed(
        absl::StrCat("the payload of the ", Describe(header), " is not shared with this process"));
  }
  const auto bytes = static_cast<uint64_t>(header.payload_bytes());
  const uint8_t* const data =
      memory->Find(SegmentOf(header.location), OffsetOf(header.location), bytes);
  if (data == nullptr) {
    return Malformed(absl::StrCat("the ", bytes, " payload bytes of the ", Describe(header),
                                  " at byte ", OffsetOf(header.location), " of segment ",
                                  SegmentOf(header.location), " lie outside the ",
                                  memory->num_segments(), " shared segments"));
  }
  return ReceivedFrame{header, FramePayload({{data, static_cast<size_t>(bytes)}}, memory)};
}

}  // namespace

grpc::ByteBuffer MakeFrame(const FrameHeader& header, const grpc::Slice& payload) {
  RINGSIDE_CHECK(header.location == 0);
  const EncodedFrameHeader bytes = EncodeFrameHeader(header);
  const grpc::Slice slices[] = {grpc::Slice(bytes.data(), bytes.size()), payload};
  return grpc::ByteBuffer(slices, 2);
}

grpc::ByteBuffer MakeHeaders(absl::Span<const FrameHeader> headers) {
  RINGSIDE_CHECK(!headers.empty() && headers.size() <= kMaxFramesPerMessage);
  uint8_t bytes[kMaxFramesPerMessage * kFrameHeaderBytes];
  uint8_t* position = bytes;
  for (const FrameHeader& header : headers) {
    RINGSIDE_CHECK(header.location != 0);
    const EncodedFrameHeader encoded = EncodeFrameHeader(header);
    position = std::copy(encoded.begin(), encoded.end(), position);
  }
  const grpc::Slice slice(bytes, headers.size() * kFrameHeaderBytes);
  return grpc::ByteBuffer(&slice, 1);
}

absl::StatusOr<ReceivedFrame> SplitFrame(const grpc::ByteBuffer& message) {
  RINGSIDE_ASSIGN_OR_RETURN(std::shared_ptr<Slices> slices, SlicesOf(message));
  RINGSIDE_ASSIGN_OR_RETURN(const FrameHeader header, FirstHeader(*slices));
  if (header.location != 0) return FrameInMemory(header, nullptr).status();
  return FrameWithPayload(header, std::move(slices));
}

absl::Status SplitMessage(const grpc::ByteBuffer& message,
                          const std::shared_ptr<const PeerMemory>& memory,
                          std::vector<ReceivedFrame>* frames) {
  RINGSIDE_ASSIGN_OR_RETURN(std::shared_ptr<Slices> slices, SlicesOf(message));
  RINGSIDE_ASSIGN_OR_RETURN(const FrameHeader first, FirstHeader(*slices));
  if (first.location == 0) {
    RINGSIDE_ASSIGN_OR_RETURN(ReceivedFrame frame, FrameWithPayload(first, std::move(slices)));
    frames->push_back(std::move(frame));
    return absl::OkStatus();
  }
  const size_t length = message.Length();
  if (length % kFrameHeaderBytes != 0 || length > kMaxFramesPerMessage * kFrameHeaderBytes) {
    return Malformed(absl::StrCat(length, " bytes of headers; allowed are 1 to ",
                                  kMaxFramesPerMessage, " of ", kFrameHeaderBytes));
  }
  uint8_t bytes[kMaxFramesPerMessage * kFrameHeaderBytes];
  CopyStart(*slices, {bytes, length});
  const size_t before = frames->size();
  for (size_t at = 0; at < length; at += kFrameHeaderBytes) {
    const absl::StatusOr<FrameHeader> header = DecodeFrameHeader({bytes + at, kFrameHeaderBytes});
    absl::StatusOr<ReceivedFrame> frame =
        header.ok() ? FrameInMemory(*header, memory) : header.status();
    if (!frame.ok()) {
      frames->erase(frames->begin() + static_cast<ptrdiff_t>(before), frames->end());
      return frame.status();
    }
    frames->push_back(*std::move(frame));
  }
  return absl::OkStatus();
}

}  // namespace ringside
