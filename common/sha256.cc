#include "common/sha256.h"

#include <openssl/evp.h>

#include "absl/strings/escaping.h"
#include "common/check.h"

namespace ringside {

std::string Sha256Hex(absl::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  RINGSIDE_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha256(), nullptr) ==
                 1);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), length));
}

std::string Sha256Hex(absl::Span<const float> values) {
  return Sha256Hex(absl::string_view(reinterpret_cast<const char*>(values.data()),
                                     values.size() * sizeof(float)));
}

}  // namespace ringside
