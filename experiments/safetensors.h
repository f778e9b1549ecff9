// The safetensors format (https://github.com/huggingface/safetensors): the length of a JSON header
// in 8 bytes, little-endian; the header, which names each tensor with its dtype, shape and place;
// and the tensors, little-endian and in row-major order, one after the other.
#ifndef RINGSIDE_EXPERIMENTS_SAFETENSORS_H_
#define RINGSIDE_EXPERIMENTS_SAFETENSORS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/checkpoint_file.h"

namespace ringside {

// Pure: length and header for the tensors of a manifest, in its order. The header is padded with
// spaces, so that the data begins at a multiple of 8.
std::string SafetensorsHeader(const CheckpointManifest& manifest);

// Makes or replaces `path`; returns its size in bytes. The checkpoint is as ReadCheckpointFile
// gives it. Errors have the code of the system's errno and name the file.
absl::StatusOr<int64_t> WriteSafetensors(const Checkpoint& checkpoint, const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SAFETENSORS_H_
