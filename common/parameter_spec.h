// Name, shape and type of one model parameter. The ordered list of them is what ranks compare when
// they join.
#ifndef RINGSIDE_COMMON_PARAMETER_SPEC_H_
#define RINGSIDE_COMMON_PARAMETER_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ringside {

struct ParameterSpec {
  std::string name;
  std::vector<int64_t> shape;
  std::string dtype = "float32";

  int64_t elements() const {
    int64_t product = 1;
    for (int64_t extent : shape) product *= extent;
    return product;
  }
  friend bool operator==(const ParameterSpec& a, const ParameterSpec& b) {
    return a.name == b.name && a.shape == b.shape && a.dtype == b.dtype;
  }
};

// "fc1.weight float32 [128,784]"
std::string ToString(const ParameterSpec& spec);

int64_t TotalElements(const std::vector<ParameterSpec>& parameters);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_PARAMETER_SPEC_H_
