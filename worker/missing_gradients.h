// Names the parameters that backward gives no gradient: they count as zero, which is right where
// the model does not use them, and a mistake more often. Each is named once.
//
// Pure and thread-compatible.
#ifndef RINGSIDE_WORKER_MISSING_GRADIENTS_H_
#define RINGSIDE_WORKER_MISSING_GRADIENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/parameter_spec.h"

namespace ringside {

class MissingGradients {
 public:
  explicit MissingGradients(const std::vector<ParameterSpec>& parameters);

  // Begins a backward pass.
  void Reset();
  // This parameter (model order) got its gradient.
  void Ready(int parameter) { ready_[parameter] = 1; }
  // After the pass: one line for those that got none and have not been named before, e.g.
  // "parameters a, b got no gradient in step 1; they count as zero"; empty where there are none.
  std::string Line(int64_t step);

 private:
  const std::vector<std::string> names_;
  std::vector<char> ready_;  // by parameter
  std::vector<char> named_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MISSING_GRADIENTS_H_
