// What a synchronizer that updates parameters itself remembers from step to step, to be saved and
// restored with them. A value that refers to the synchronizer, at the same place for its life.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_UPDATE_STATE_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_UPDATE_STATE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace ringside {

struct UpdateState {
  std::vector<absl::Span<float>> optimizer;  // Optimizer::State
  absl::Span<int64_t> skipped_steps;         // one number: they count as no update
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_UPDATE_STATE_H_
