// The framing of TFRecord files, which TensorBoard's event files have: for each record its length
// (64 bits, little-endian), the masked CRC-32C of those eight bytes, the data, and the masked
// CRC-32C of the data. A CRC c is masked as rotate_right(c, 15) + 0xa282ead8, because a CRC of data
// that contain CRCs is weak
// (https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details).
//
// Pure; safe from any thread.
#ifndef RINGSIDE_WORKER_TF_RECORD_H_
#define RINGSIDE_WORKER_TF_RECORD_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ringside {

// The masked CRC-32C (Castagnoli) of `bytes`.
uint32_t MaskedCrc32c(absl::string_view bytes);

// Appends one framed record. REQUIRES: less than 2 GiB of data.
void AppendTfRecord(absl::string_view data, std::string* file);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_TF_RECORD_H_
