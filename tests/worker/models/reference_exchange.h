// Named tensors in a file, and the Python script that computes with them.
//
// Thread-compatible.
#ifndef RINGSIDE_TESTS_WORKER_MODELS_REFERENCE_EXCHANGE_H_
#define RINGSIDE_TESTS_WORKER_MODELS_REFERENCE_EXCHANGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/parameter_spec.h"

namespace ringside {

// One of the vectors is filled.
struct NamedTensor {
  std::vector<int64_t> shape;
  std::vector<float> floats;
  std::vector<int64_t> integers;
};
using NamedTensors = std::map<std::string, NamedTensor>;

// What Python is asked: "kind" and the sizes of the module, and tensors by name: "input",
// "labels" or "probe", and "p:<name>" for each parameter.
struct ReferenceRequest {
  std::map<std::string, std::string> sizes;
  NamedTensors tensors;

  // Splits `values` among the parameters.
  void AddParameters(const std::vector<ParameterSpec>& specs, absl::Span<const float> values);
};

// Why there is no reference here, for GTEST_SKIP; empty where Python has torch.
std::string NoReferenceBecause();

// Runs reference.py in a folder of its own. Its answer: "loss", "g:<name>" for each parameter,
// "b:<name>" for each buffer, and what else reference.py says. Fails the test where it fails.
NamedTensors AskReference(const ReferenceRequest& request);

// Expects each value to differ by at most `relative` of the largest of the two tensors (that is
// what rounding in sums scales with).
void ExpectNear(const std::string& name, absl::Span<const float> own, const NamedTensors& answer,
                double relative);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_WORKER_MODELS_REFERENCE_EXCHANGE_H_
