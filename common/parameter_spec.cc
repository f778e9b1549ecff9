#include "common/parameter_spec.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ringside {

std::string ToString(const ParameterSpec& spec) {
  return absl::StrCat(spec.name, " ", spec.dtype, " [", absl::StrJoin(spec.shape, ","), "]");
}

int64_t TotalElements(const std::vector<ParameterSpec>& parameters) {
  int64_t total = 0;
  for (const ParameterSpec& parameter : parameters) total += parameter.elements();
  return total;
}

}  // namespace ringside
