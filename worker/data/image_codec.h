// Decodes PNG (by libpng) and JPEG (by libjpeg) from memory. Stateless, so safe from any thread.
#ifndef RINGSIDE_WORKER_DATA_IMAGE_CODEC_H_
#define RINGSIDE_WORKER_DATA_IMAGE_CODEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

struct ByteImage {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t channels = 0;        // interleaved
  std::vector<uint8_t> bytes;  // rows x columns x channels
};

// Red, green and blue, whatever the file has; transparency becomes black. The first bytes tell the
// format. INVALID_ARGUMENT, with `name` and the library's words: neither PNG nor JPEG, damaged or
// cut off, colours that cannot become RGB (CMYK), more than 2^26 pixels.
absl::StatusOr<ByteImage> DecodeImage(const std::string& name, absl::string_view bytes);

// The palette's indices of a PNG, or the grey values of one of 8 bits: one channel.
// INVALID_ARGUMENT as above, or it has neither.
absl::StatusOr<ByteImage> DecodeIndices(const std::string& name, absl::string_view bytes);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_IMAGE_CODEC_H_
