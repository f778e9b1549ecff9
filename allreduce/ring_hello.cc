#include "allreduce/ring_hello.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "absl/base/internal/endian.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/sha256.h"

namespace ringside {
namespace {

namespace le = absl::little_endian;

constexpr uint32_t kMagic = 0x474e4952;  // "RING" in memory order
constexpr uint8_t kVersion = 2;

// Byte positions of the fields.
enum Position : size_t {
  kMagicAt = 0,
  kVersionAt = 4,
  kVerdictAt = 5,
  kSharesMemoryAt = 6,
  kGroupAt = 8,
  kGenerationAt = 12,
  kSenderAt = 16,
  kReceiverAt = 20,
  kTokenAt = 24,
  kPlanAt = 56,
};

std::string Hex(const std::array<uint8_t, 32>& digest) {
  return absl::BytesToHexString(
             absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()))
      .substr(0, 12);
}

}  // namespace

std::array<uint8_t, 32> Sha256Of(absl::string_view text) {
  const std::string bytes = absl::HexStringToBytes(Sha256Hex(text));
  std::array<uint8_t, 32> digest = {};
  std::copy_n(bytes.begin(), digest.size(), digest.begin());
  return digest;
}

EncodedRingHello Encode(const RingHello& hello) {
  EncodedRingHello bytes = {};
  le::Store32(&bytes[kMagicAt], kMagic);
  bytes[kVersionAt] = kVersion;
  bytes[kVerdictAt] = static_cast<uint8_t>(hello.verdict);
  if (hello.verdict == RingHello::Verdict::kWrongToken) return bytes;
  bytes[kSharesMemoryAt] = hello.shares_memory ? 1 : 0;
  le::Store32(&bytes[kGroupAt], hello.group);
  le::Store32(&bytes[kGenerationAt], hello.generation);
  le::Store32(&bytes[kSenderAt], hello.sender);
  le::Store32(&bytes[kReceiverAt], hello.receiver);
  std::copy(hello.token_sha256.begin(), hello.token_sha256.end(), &bytes[kTokenAt]);
  std::copy(hello.plan_sha256.begin(), hello.plan_sha256.end(), &bytes[kPlanAt]);
  return bytes;
}

absl::StatusOr<RingHello> DecodeRingHello(absl::Span<const uint8_t> bytes) {
  if (bytes.size() != kRingHelloBytes || le::Load32(&bytes[kMagicAt]) != kMagic) {
    return absl::InvalidArgumentError("not a hello of a Ringside ring");
  }
  if (bytes[kVersionAt] != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat("hello of version ", int{bytes[kVersionAt]},
                                                   ", this build speaks ", int{kVersion}));
  }
  if (bytes[kVerdictAt] > static_cast<uint8_t>(RingHello::Verdict::kWrongPlan)) {
    return absl::InvalidArgumentError(
        absl::StrCat("hello with unknown verdict ", int{bytes[kVerdictAt]}));
  }
  RingHello hello;
  hello.verdict = static_cast<RingHello::Verdict>(bytes[kVerdictAt]);
  hello.shares_memory = bytes[kSharesMemoryAt] == 1;
  hello.group = le::Load32(&bytes[kGroupAt]);
  hello.generation = le::Load32(&bytes[kGenerationAt]);
  hello.sender = le::Load32(&bytes[kSenderAt]);
  hello.receiver = le::Load32(&bytes[kReceiverAt]);
  std::copy_n(&bytes[kTokenAt], hello.token_sha256.size(), hello.token_sha256.begin());
  std::copy_n(&bytes[kPlanAt], hello.plan_sha256.size(), hello.plan_sha256.begin());
  return hello;
}

RingHello::Verdict Judge(const RingHello& own, const RingHello& call) {
  // In constant time, so that answers do not tell how much of a guess was right.
  if (CRYPTO_memcmp(own.token_sha256.data(), call.token_sha256.data(), own.token_sha256.size()) !=
      0) {
    return RingHello::Verdict::kWrongToken;
  }
  if (call.group != own.group) return RingHello::Verdict::kWrongGroup;
  if (call.generation != own.generation) return RingHello::Verdict::kWrongGeneration;
  if (call.receiver != own.sender) return RingHello::Verdict::kWrongReceiver;
  if (call.sender != own.receiver) return RingHello::Verdict::kWrongSender;
  if (call.plan_sha256 != own.plan_sha256) return RingHello::Verdict::kWrongPlan;
  return RingHello::Verdict::kWelcome;
}

absl::Status RefusalStatus(RingHello::Verdict verdict, const RingHello& mine,
                           const RingHello& theirs, absl::string_view peer) {
  switch (verdict) {
    case RingHello::Verdict::kWelcome:
      return absl::OkStatus();
    case RingHello::Verdict::kCall:
      return absl::InvalidArgumentError(absl::StrCat(peer, " answers the hello with a call"));
    case RingHello::Verdict::kWrongToken:
      return absl::PermissionDeniedError(
          absl::StrCat(peer, " has another token: it belongs to another job"));
    case RingHello::Verdict::kWrongGroup:
      return absl::FailedPreconditionError(absl::StrCat(peer, " is in group ", theirs.group,
                                                        ", this process in group ", mine.group));
    case RingHello::Verdict::kWrongGeneration:
      return absl::FailedPreconditionError(
          absl::StrCat(peer, " is in generation ", theirs.generation,
                       ", this process in generation ", mine.generation));
    case RingHello::Verdict::kWrongReceiver:
    case RingHello::Verdict::kWrongSender:
      return absl::FailedPreconditionError(absl::StrCat(
          peer, " is worker ", theirs.sender, " and means worker ", theirs.receiver,
          "; this process is worker ", mine.sender, " and means worker ", mine.receiver));
    case RingHello::Verdict::kWrongPlan:
      return absl::FailedPreconditionError(
          absl::StrCat(peer, " has bucket plan ", Hex(theirs.plan_sha256), ", this process ",
                       Hex(mine.plan_sha256), ": model or bucket sizes differ"));
  }
  return absl::InternalError("unknown verdict");
}

}  // namespace ringside
