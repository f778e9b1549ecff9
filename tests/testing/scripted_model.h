// What a scripted worker (tests/integration/scripted_worker.cc) trains: parameters and gradients by
// formula, all of them small multiples of a power of two, so that sums are exact in any order and a
// test knows the parameters of every step.
#ifndef RINGSIDE_TESTS_TESTING_SCRIPTED_MODEL_H_
#define RINGSIDE_TESTS_TESTING_SCRIPTED_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/parameter_spec.h"

namespace ringside {

struct ScriptedModel {
  int parameters = 6;  // each is a bucket, if a bucket holds no more than one
  int64_t elements_each = 240;

  int64_t elements() const { return parameters * elements_each; }
  std::vector<ParameterSpec> Parameters() const {
    std::vector<ParameterSpec> specs;
    for (int i = 0; i < parameters; ++i) specs.push_back({absl::StrCat("p", i), {elements_each}});
    return specs;
  }
};

// Both have this period.
constexpr int64_t kScriptedPeriod = 16;
inline float ScriptedInitial(int64_t element) { return static_cast<float>(element & 15); }
inline float ScriptedGradient(int rank, int64_t step, int64_t element) {
  return static_cast<float>(((element + 3 * rank + 5 * step) & 7) - 3);
}

// The parameters of plain gradient descent after `steps` steps of all `workers`, each of which
// moves them by `rate` times its gradient.
inline std::vector<float> ScriptedParameters(int64_t elements, int64_t steps, int workers,
                                             float rate) {
  std::vector<float> values(static_cast<size_t>(elements));
  for (int64_t i = 0; i < elements; ++i) {
    if (i >= kScriptedPeriod) {
      values[i] = values[i - kScriptedPeriod];
      continue;
    }
    values[i] = ScriptedInitial(i);
    for (int64_t step = 1; step <= steps; ++step) {
      for (int rank = 0; rank < workers; ++rank)
        values[i] -= rate * ScriptedGradient(rank, step, i);
    }
  }
  return values;
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_TESTING_SCRIPTED_MODEL_H_
