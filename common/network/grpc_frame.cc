#include "common/network/grpc_frame.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ringside {

grpc::ByteBuffer MakeFrame(const FrameHeader& header, const grpc::Slice& payload) {
  const EncodedFrameHeader bytes = EncodeFrameHeader(header);
  const grpc::Slice slices[] = {grpc::Slice(bytes.data(), bytes.size()), payload};
  return grpc::ByteBuffer(slices, 2);
}

absl::StatusOr<ReceivedFrame> SplitFrame(const grpc::ByteBuffer& message) {
  auto slices = std::make_shared<std::vector<grpc::Slice>>();
  if (!message.Dump(slices.get()).ok())
    return absl::InvalidArgumentError("malformed frame: it cannot be read");
  EncodedFrameHeader header_bytes;
  size_t have = 0;
  std::vector<FramePayload::Piece> pieces;
  pieces.reserve(slices->size());
  for (const grpc::Slice& slice : *slices) {
    const size_t take = std::min(slice.size(), header_bytes.size() - have);
    std::memcpy(header_bytes.data() + have, slice.begin(), take);
    have += take;
    if (take < slice.size()) pieces.emplace_back(slice.begin() + take, slice.size() - take);
  }
  ReceivedFrame frame;
  RINGSIDE_ASSIGN_OR_RETURN(frame.header, DecodeFrameHeader({header_bytes.data(), have}));
  frame.payload = FramePayload(std::move(pieces), std::move(slices));
  if (frame.payload.bytes() != frame.header.payload_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("malformed frame: ", frame.payload.bytes(),
                                                   " payload bytes in the ",
                                                   Describe(frame.header)));
  }
  return frame;
}

}  // namespace ringside
