#include "worker/models/model.h"

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

absl::Status RequireNone(size_t floats, size_t counters) {
  if (floats == 0 && counters == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a model without buffers was given room for ",
                                                 floats, " floats and ", counters, " counters"));
}

}  // namespace

const BufferSpecs& Model::Buffers() const {
  static const BufferSpecs* const none = new BufferSpecs;
  return *none;
}

absl::Status Model::ReadBuffers(absl::Span<float> floats, absl::Span<int64_t> counters) const {
  return RequireNone(floats.size(), counters.size());
}

absl::Status Model::WriteBuffers(absl::Span<const float> floats,
                                 absl::Span<const int64_t> counters) {
  return RequireNone(floats.size(), counters.size());
}

}  // namespace ringside
