// The first words on the Unix socket over which a worker and a shard of one host exchange memory.
// Pure.
//
// The worker says hello; the shard answers with one byte, its verdict. After a welcome both pass
// the files behind their arenas (MemoryExchange), and where both could map, the shard ends with a
// ticket of 8 bytes, little-endian and not 0, which the worker shows when it opens its stream of
// frames. The hello is 84 bytes, little-endian: magic "RMEM", version, three zero bytes,
// generation, shard, rank (32 bits each), SHA-256 of the job's token in hexadecimal.
#ifndef RINGSIDE_COMMON_SHARED_MEMORY_MEMORY_HELLO_H_
#define RINGSIDE_COMMON_SHARED_MEMORY_MEMORY_HELLO_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace ringside {

constexpr size_t kMemoryHelloBytes = 84;
using EncodedMemoryHello = std::array<uint8_t, kMemoryHelloBytes>;
constexpr size_t kMemoryTicketBytes = 8;

struct MemoryHello {
  uint32_t generation = 0;
  uint32_t shard = 0;
  uint32_t rank = 0;         // of the worker
  std::string token_sha256;  // 64 hexadecimal digits
};

enum class MemoryVerdict : uint8_t {
  kWelcome = 1,
  kWrongToken = 2,
  kWrongGeneration = 3,
  kWrongShard = 4,
  kWrongRank = 5,
  kNoMemory = 6,  // the shard's results are not in shared memory
};

// REQUIRES: a token_sha256 of 64 characters.
EncodedMemoryHello Encode(const MemoryHello& hello);
// INVALID_ARGUMENT: no such hello, or one of another version.
absl::StatusOr<MemoryHello> DecodeMemoryHello(absl::Span<const uint8_t> bytes);

// What a shard thinks of `call`; `own` is what a good worker would say, but for the rank.
MemoryVerdict Judge(const MemoryHello& own, int world_size, const MemoryHello& call);

// Why there is no welcome.
std::string RefusalText(MemoryVerdict verdict);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SHARED_MEMORY_MEMORY_HELLO_H_
