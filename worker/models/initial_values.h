// Initial parameters as a function of seed, position and shape alone, the same on every machine and
// with every library.
#ifndef RINGSIDE_WORKER_MODELS_INITIAL_VALUES_H_
#define RINGSIDE_WORKER_MODELS_INITIAL_VALUES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/parameter_spec.h"

namespace ringside {

// Weights (two dimensions or more, the first counts outputs) are uniform in ±sqrt(6 / fan-in),
// which keeps the variance through ReLU layers (He et al. 2015, "Delving Deep into Rectifiers");
// biases are zero. `index` is the parameter's position in the model.
void FillInitialValues(const ParameterSpec& spec, int index, int64_t seed,
                       absl::Span<float> values);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_INITIAL_VALUES_H_
