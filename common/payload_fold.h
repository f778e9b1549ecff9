// Folds payloads as they were received: straight out of the transport's memory, in one pass,
// whatever the number of contributions and wherever their pieces start and end.
//
// Pure; safe from any thread.
#ifndef RINGSIDE_COMMON_PAYLOAD_FOLD_H_
#define RINGSIDE_COMMON_PAYLOAD_FOLD_H_

#include "absl/types/span.h"
#include "common/frame_payload.h"

namespace ringside {

// out[i] = ((payloads[0][i] + payloads[1][i]) + payloads[2][i]) + ..., by Fold of
// common/reduction.h. REQUIRES: at least one payload; each holds the elements of `out`, as float32;
// `out` overlaps none of them.
void FoldPayloads(absl::Span<const FramePayload* const> payloads, absl::Span<float> out);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_PAYLOAD_FOLD_H_
