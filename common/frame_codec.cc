#include "common/frame_codec.h"

#include "absl/base/internal/endian.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

namespace le = absl::little_endian;

constexpr uint32_t kMagic = 0x45444952;  // "RIDE" in memory order
constexpr uint8_t kVersion = 1;

// Byte positions of the fields.
enum Position : size_t {
  kMagicAt = 0,
  kVersionAt = 4,
  kKindAt = 5,
  kDtypeAt = 6,
  kFlagsAt = 7,
  kGroupAt = 8,
  kGenerationAt = 12,
  kStepAt = 16,
  kBucketAt = 24,
  kSenderAt = 28,
  kOffsetAt = 32,
  kElementsAt = 40,
  kPayloadBytesAt = 44,
  kWeightAt = 48,
  kLocationAt = 56,
};

constexpr uint8_t kFiniteFlag = 1;

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed frame: ", what));
}

}  // namespace

absl::StatusOr<WireDtype> ParseWireDtype(absl::string_view name) {
  if (name == "fp32") return WireDtype::kFloat32;
  if (name == "bf16") return WireDtype::kBFloat16;
  if (name == "fp16") return WireDtype::kFloat16;
  return absl::InvalidArgumentError(
      absl::StrCat("wire dtype \"", name, "\": must be one of fp32, bf16, fp16"));
}

bool operator==(const FrameHeader& a, const FrameHeader& b) {
  return EncodeFrameHeader(a) == EncodeFrameHeader(b);
}

EncodedFrameHeader EncodeFrameHeader(const FrameHeader& header) {
  EncodedFrameHeader bytes{};
  le::Store32(&bytes[kMagicAt], kMagic);
  bytes[kVersionAt] = kVersion;
  bytes[kKindAt] = static_cast<uint8_t>(header.kind);
  bytes[kDtypeAt] = static_cast<uint8_t>(header.dtype);
  bytes[kFlagsAt] = header.finite ? kFiniteFlag : 0;
  le::Store32(&bytes[kGroupAt], header.group);
  le::Store32(&bytes[kGenerationAt], header.generation);
  le::Store64(&bytes[kStepAt], header.step);
  le::Store32(&bytes[kBucketAt], header.bucket);
  le::Store32(&bytes[kSenderAt], header.sender);
  le::Store64(&bytes[kOffsetAt], header.offset);
  le::Store32(&bytes[kElementsAt], header.elements);
  le::Store32(&bytes[kPayloadBytesAt], static_cast<uint32_t>(header.payload_bytes()));
  le::Store64(&bytes[kWeightAt], header.weight);
  le::Store64(&bytes[kLocationAt], header.location);
  return bytes;
}

absl::StatusOr<FrameHeader> DecodeFrameHeader(absl::Span<const uint8_t> bytes) {
  if (bytes.size() != kFrameHeaderBytes) {
    return Malformed(
        absl::StrCat("header of ", bytes.size(), " bytes instead of ", kFrameHeaderBytes));
  }
  if (le::Load32(&bytes[kMagicAt]) != kMagic)
    return Malformed("not a Ringside frame (wrong magic)");
  if (bytes[kVersionAt] != kVersion) {
    return Malformed(absl::StrCat("version ", static_cast<int>(bytes[kVersionAt]),
                                  ", this build speaks ", static_cast<int>(kVersion)));
  }
  const uint8_t kind = bytes[kKindAt];
  if (kind < static_cast<uint8_t>(FrameKind::kPush) ||
      kind > static_cast<uint8_t>(FrameKind::kFinish)) {
    return Malformed(absl::StrCat("unknown kind ", static_cast<int>(kind)));
  }
  if (bytes[kDtypeAt] > static_cast<uint8_t>(WireDtype::kFloat16)) {
    return Malformed(absl::StrCat("unknown dtype ", static_cast<int>(bytes[kDtypeAt])));
  }
  // The frames of a ring have their own way to say where a payload lies (ring_mailbox.h).
  const uint64_t location = le::Load64(&bytes[kLocationAt]);
  const bool of_ring = kind > static_cast<uint8_t>(FrameKind::kResult);
  if ((bytes[kFlagsAt] & ~kFiniteFlag) != 0 || (of_ring && location != 0)) {
    return Malformed("reserved bits are set");
  }
  FrameHeader header;
  header.kind = static_cast<FrameKind>(kind);
  header.dtype = static_cast<WireDtype>(bytes[kDtypeAt]);
  header.finite = (bytes[kFlagsAt] & kFiniteFlag) != 0;
  header.group = le::Load32(&bytes[kGroupAt]);
  header.generation = le::Load32(&bytes[kGenerationAt]);
  header.step = le::Load64(&bytes[kStepAt]);
  header.bucket = le::Load32(&bytes[kBucketAt]);
  header.sender = le::Load32(&bytes[kSenderAt]);
  header.offset = le::Load64(&bytes[kOffsetAt]);
  header.elements = le::Load32(&bytes[kElementsAt]);
  header.weight = le::Load64(&bytes[kWeightAt]);
  header.location = location;
  if (header.payload_bytes() > kMaxFramePayloadBytes) {
    return Malformed(absl::StrCat(header.elements, " elements, more than the limit of ",
                                  kMaxFramePayloadBytes, " bytes"));
  }
  if (le::Load32(&bytes[kPayloadBytesAt]) != header.payload_bytes()) {
    return Malformed(absl::StrCat(le::Load32(&bytes[kPayloadBytesAt]), " payload bytes for ",
                                  header.elements, " elements"));
  }
  return header;
}

std::string Describe(const FrameHeader& header) {
  static constexpr const char* kNames[] = {"?",          "push", "result",  "reduce-scatter",
                                           "all-gather", "pull", "restore", "finish"};
  return absl::StrCat(kNames[static_cast<int>(header.kind)], " of step ", header.step, " bucket ",
                      header.bucket, " offset ", header.offset, " (", header.elements,
                      " elements) from ", header.sender, " in group ", header.group, " generation ",
                      header.generation);
}

}  // namespace ringside
