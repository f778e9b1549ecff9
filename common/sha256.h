// SHA-256 in hexadecimal, by OpenSSL's libcrypto.
#ifndef RINGSIDE_COMMON_SHA256_H_
#define RINGSIDE_COMMON_SHA256_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ringside {

std::string Sha256Hex(absl::string_view bytes);
// Over the bytes of the floats as they lie in memory (little-endian on every machine that we
// support).
std::string Sha256Hex(absl::Span<const float> values);
// Over all pieces, one after the other.
std::string Sha256Hex(const std::vector<absl::Span<const uint8_t>>& pieces);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SHA256_H_
