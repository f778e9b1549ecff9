// The first words on a connection between two ranks: who calls, for which job, and whether both
// mean the same ring. Pure.
//
// The caller (in a ring, the left neighbour) sends a hello; the called rank judges it and answers
// with a hello of its own that carries the verdict. 88 bytes, little-endian: magic "RING", version,
// verdict, 1 where the sender is ready to share memory, a zero byte, group, generation, sender,
// receiver (32 bits each), SHA-256 of the job's token, SHA-256 of the plan's hash. An answer that
// refuses the token says nothing else: it must not teach a stranger the digest.
#ifndef RINGSIDE_ALLREDUCE_RING_HELLO_H_
#define RINGSIDE_ALLREDUCE_RING_HELLO_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ringside {

constexpr size_t kRingHelloBytes = 88;
using EncodedRingHello = std::array<uint8_t, kRingHelloBytes>;

struct RingHello {
  enum class Verdict : uint8_t {
    kCall = 0,  // from the caller: not judged yet
    kWelcome = 1,
    kWrongToken = 2,
    kWrongGroup = 3,
    kWrongGeneration = 4,
    kWrongReceiver = 5,  // another rank was meant
    kWrongSender = 6,    // the caller is not one that is expected
    kWrongPlan = 7,
  };

  Verdict verdict = Verdict::kCall;
  bool shares_memory = false;
  uint32_t group = 0;
  uint32_t generation = 0;
  uint32_t sender = 0;  // ranks
  uint32_t receiver = 0;
  std::array<uint8_t, 32> token_sha256 = {};
  std::array<uint8_t, 32> plan_sha256 = {};
};

std::array<uint8_t, 32> Sha256Of(absl::string_view text);

EncodedRingHello Encode(const RingHello& hello);
// INVALID_ARGUMENT: no Ringside hello, another version, or an unknown verdict.
absl::StatusOr<RingHello> DecodeRingHello(absl::Span<const uint8_t> bytes);

// What the called rank thinks of `call`, where `own` is the answer that it would give: its own view
// of the ring, with itself as sender and the expected caller as receiver. The first mismatch in the
// order of the verdicts.
RingHello::Verdict Judge(const RingHello& own, const RingHello& call);

// The error that goes with a verdict, OK for a welcome. `mine` and `theirs` are the two views in
// question, and `peer` names the other end. PERMISSION_DENIED: the token. FAILED_PRECONDITION: all
// else; names both values.
absl::Status RefusalStatus(RingHello::Verdict verdict, const RingHello& mine,
                           const RingHello& theirs, absl::string_view peer);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_RING_HELLO_H_
