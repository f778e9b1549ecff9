#include "worker/missing_gradients.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ringside {
namespace {

std::vector<std::string> NamesOf(const std::vector<ParameterSpec>& parameters) {
  std::vector<std::string> names;
  for (const ParameterSpec& parameter : parameters) names.push_back(parameter.name);
  return names;
}

}  // namespace

MissingGradients::MissingGradients(const std::vector<ParameterSpec>& parameters)
    : names_(NamesOf(parameters)), ready_(names_.size(), 0), named_(names_.size(), 0) {}

void MissingGradients::Reset() { std::fill(ready_.begin(), ready_.end(), 0); }

std::string MissingGradients::Line(int64_t step) {
  std::vector<std::string> names;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (ready_[i] || named_[i]) continue;
    named_[i] = 1;
    names.push_back(names_[i]);
  }
  if (names.empty()) return "";
  const bool one = names.size() == 1;
  return absl::StrCat(one ? "parameter " : "parameters ", absl::StrJoin(names, ", "),
                      " got no gradient in step ", step, one ? "; it counts" : "; they count",
                      " as zero");
}

}  // namespace ringside
