#include "common/shared_memory/memory_hello.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "absl/base/internal/endian.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"

namespace ringside {
namespace {

namespace le = absl::little_endian;

constexpr uint32_t kMagic = 0x4d454d52;  // "RMEM" in memory order
constexpr uint8_t kVersion = 1;
constexpr size_t kDigestDigits = 64;

// Byte positions of the fields.
enum Position : size_t {
  kMagicAt = 0,
  kVersionAt = 4,
  kGenerationAt = 8,
  kShardAt = 12,
  kRankAt = 16,
  kTokenAt = 20,
};

}  // namespace

EncodedMemoryHello Encode(const MemoryHello& hello) {
  RINGSIDE_CHECK(hello.token_sha256.size() == kDigestDigits);
  EncodedMemoryHello bytes = {};
  le::Store32(&bytes[kMagicAt], kMagic);
  bytes[kVersionAt] = kVersion;
  le::Store32(&bytes[kGenerationAt], hello.generation);
  le::Store32(&bytes[kShardAt], hello.shard);
  le::Store32(&bytes[kRankAt], hello.rank);
  std::copy(hello.token_sha256.begin(), hello.token_sha256.end(), &bytes[kTokenAt]);
  return bytes;
}

absl::StatusOr<MemoryHello> DecodeMemoryHello(absl::Span<const uint8_t> bytes) {
  if (bytes.size() != kMemoryHelloBytes || le::Load32(&bytes[kMagicAt]) != kMagic)
    return absl::InvalidArgumentError("not a hello of a worker that shares memory");
  if (bytes[kVersionAt] != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat("hello of version ", int{bytes[kVersionAt]},
                                                   ", this build speaks ", int{kVersion}));
  }
  MemoryHello hello;
  hello.generation = le::Load32(&bytes[kGenerationAt]);
  hello.shard = le::Load32(&bytes[kShardAt]);
  hello.rank = le::Load32(&bytes[kRankAt]);
  hello.token_sha256.assign(bytes.begin() + kTokenAt, bytes.end());
  return hello;
}

MemoryVerdict Judge(const MemoryHello& own, int world_size, const MemoryHello& call) {
  // In constant time, so that answers do not tell how much of a guess was right.
  if (own.token_sha256.size() != call.token_sha256.size() ||
      CRYPTO_memcmp(own.token_sha256.data(), call.token_sha256.data(), own.token_sha256.size()) !=
          0) {
    return MemoryVerdict::kWrongToken;
  }
  if (call.generation != own.generation) return MemoryVerdict::kWrongGeneration;
  if (call.shard != own.shard) return MemoryVerdict::kWrongShard;
  if (call.rank >= static_cast<uint32_t>(world_size)) return MemoryVerdict::kWrongRank;
  return MemoryVerdict::kWelcome;
}

std::string RefusalText(MemoryVerdict verdict) {
  switch (verdict) {
    case MemoryVerdict::kWelcome:
      return "nothing is wrong";
    case MemoryVerdict::kWrongToken:
      return "the tokens differ: it belongs to another job";
    case MemoryVerdict::kWrongGeneration:
      return "the generations differ";
    case MemoryVerdict::kWrongShard:
      return "another shard was called";
    case MemoryVerdict::kWrongRank:
      return "the job has no such rank";
    case MemoryVerdict::kNoMemory:
      return "the shard's results are not in shared memory";
  }
  return absl::StrCat("unknown verdict ", static_cast<int>(verdict));
}

}  // namespace ringside
