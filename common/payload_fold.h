// Folds payloads as they were received: straight out of the transport's memory, in one pass,
// whatever the number of contributions and wherever their pieces start and end.
//
// Pure; safe from any thread. The bits do not depend on the number of threads of `fork_join`.
#ifndef RINGSIDE_COMMON_PAYLOAD_FOLD_H_
#define RINGSIDE_COMMON_PAYLOAD_FOLD_H_

#include "absl/types/span.h"
#include "common/fork_join.h"
#include "common/frame_payload.h"

namespace ringside {

// out[i] = ((payloads[0][i] + payloads[1][i]) + payloads[2][i]) + ..., by Fold of
// common/reduction.h. REQUIRES: at least one payload; each holds the elements of `out`, as float32;
// `out` overlaps none of them.
void FoldPayloads(absl::Span<const FramePayload* const> payloads, ForkJoin* fork_join,
                  absl::Span<float> out);

// Copy of common/reduction.h by several threads.
void CopyWith(ForkJoin* fork_join, absl::Span<const float> from, absl::Span<float> to);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_PAYLOAD_FOLD_H_
