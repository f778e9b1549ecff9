#include "worker/tf_record.h"

#include <isa-l/crc.h>

#include <climits>

#include "absl/base/internal/endian.h"
#include "common/check.h"

namespace ringside {
namespace {

constexpr uint32_t kMaskDelta = 0xa282ead8;

}  // namespace

uint32_t MaskedCrc32c(absl::string_view bytes) {
  RINGSIDE_CHECK(bytes.size() <= INT_MAX);
  // The library takes its data as not const, but only reads them. It leaves both inversions, which
  // are part of CRC-32C, to the caller.
  auto* const data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  const uint32_t crc = ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~uint32_t{0});
  return ((crc >> 15) | (crc << 17)) + kMaskDelta;
}

void AppendTfRecord(absl::string_view data, std::string* file) {
  char length[8];
  absl::little_endian::Store64(length, data.size());
  char crc[4];
  absl::little_endian::Store32(crc, MaskedCrc32c({length, sizeof(length)}));
  file->append(length, sizeof(length)).append(crc, sizeof(crc));
  absl::little_endian::Store32(crc, MaskedCrc32c(data));
  file->append(data.data(), data.size()).append(crc, sizeof(crc));
}

}  // namespace ringside
