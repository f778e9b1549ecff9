// float32 to and from the 16-bit wire dtypes: bfloat16 and IEEE 754 binary16 (fp16).
//
// Encoding rounds to nearest, ties to even; what is too large becomes an infinity, denormals are
// kept, in both directions. A NaN stays a NaN with its sign and the top bits of its payload (7 for
// bf16, 10 for fp16, the quiet bit among them) and is made quiet, in both directions. The bits are
// the same for every instruction set (common/kernel_table.h).
//
// `wire` holds two bytes an element, little-endian as on the wire, and needs no alignment. Only
// kBFloat16 and kFloat16 are allowed; another dtype, or lengths that do not agree, are our own bugs
// and end the process. Pure functions, safe from any thread. Buffers must not overlap, except where
// stated.
#ifndef RINGSIDE_COMMON_HALF_PRECISION_H_
#define RINGSIDE_COMMON_HALF_PRECISION_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/frame_codec.h"

namespace ringside {

void EncodeWire(WireDtype dtype, absl::Span<const float> values, absl::Span<uint8_t> wire);

void DecodeWire(WireDtype dtype, absl::Span<const uint8_t> wire, absl::Span<float> values);

// out[i] = decoded wire[i] + own[i], the partial sum on the left as in common/reduction.h, without
// a second pass over memory. `out` may be `own`.
void AddDecoded(WireDtype dtype, absl::Span<const uint8_t> wire, absl::Span<const float> own,
                absl::Span<float> out);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_HALF_PRECISION_H_
