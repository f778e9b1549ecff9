#include "worker/data/dataset.h"

#include "common/check.h"
#include "common/status_macros.h"

namespace ringside {

absl::Status Dataset::Fetch(absl::Span<const uint32_t> indices, const SampleSpans& out) const {
  const bool is_image = shape_.input == SampleShape::Input::kImage;
  const size_t image = is_image ? shape_.input_elements() : 0;
  const size_t tokens = is_image ? 0 : shape_.input_elements();
  const size_t labels = shape_.label_elements();
  RINGSIDE_CHECK(out.images.size() == indices.size() * image &&
                 out.tokens.size() == indices.size() * tokens &&
                 out.labels.size() == indices.size() * labels);
  for (size_t i = 0; i < indices.size(); ++i) {
    RINGSIDE_CHECK(indices[i] < size_);
    RINGSIDE_RETURN_IF_ERROR(FetchSample(
        indices[i], {out.images.subspan(i * image, image), out.tokens.subspan(i * tokens, tokens),
                     out.labels.subspan(i * labels, labels)}));
  }
  return absl::OkStatus();
}

}  // namespace ringside
