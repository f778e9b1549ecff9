// Initial parameters as a function of seed, position, length and rule alone, the same on every
// machine and with every library.
#ifndef RINGSIDE_WORKER_MODELS_INITIAL_VALUES_H_
#define RINGSIDE_WORKER_MODELS_INITIAL_VALUES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/parameter_spec.h"

namespace ringside {

// What a parameter starts with.
struct InitialValues {
  enum class Kind { kConstant, kUniform, kNormal };

  Kind kind = Kind::kConstant;
  // The constant; half the width of the uniform distribution; the standard deviation of the normal
  // one. The latter two are around 0.
  double scale = 0;
};

// What suits layers with ReLU. Weights (two dimensions or more, the first counts outputs) are
// uniform in ±sqrt(6 / fan-in), which keeps the variance (He et al. 2015, "Delving Deep into
// Rectifiers"). Of one dimension are the scales of normalisations, which are called "...weight" and
// are one, and biases, which are zero.
InitialValues HeInitialValues(const ParameterSpec& spec);

// `index` is the parameter's position in the model. The normal distribution is that of the sum of
// four uniform numbers, which never lies further out than 3.5 standard deviations: it needs no
// function whose last bit differs between machines.
void FillInitialValues(const InitialValues& rule, int index, int64_t seed,
                       absl::Span<float> values);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_INITIAL_VALUES_H_
