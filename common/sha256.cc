#include "common/sha256.h"

#include <openssl/evp.h>

#include <memory>

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

std::string Sha256Hex(const std::vector<absl::Span<const uint8_t>>& pieces) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  RINGSIDE_CHECK(context != nullptr &&
                 EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  for (const absl::Span<const uint8_t>& piece : pieces) {
    RINGSIDE_CHECK(EVP_DigestUpdate(context.get(), piece.data(), piece.size()) == 1);
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  RINGSIDE_CHECK(EVP_DigestFinal_ex(context.get(), digest, &length) == 1);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), length));
}

std::string Sha256Hex(absl::Span<const float> values) {
  return Sha256Hex(absl::string_view(reinterpret_cast<const char*>(values.data()),
                                     values.size() * sizeof(float)));
}

}  // namespace ringside
