// Reads IDX files, the format of MNIST: a magic number (two zero bytes, the type of the elements,
// the number of dimensions), then each dimension as a big-endian 32-bit number, then the elements,
// last dimension fastest (http://yann.lecun.com/exdb/mnist). Stateless, so safe from any thread.
#ifndef RINGSIDE_WORKER_DATA_IDX_READER_H_
#define RINGSIDE_WORKER_DATA_IDX_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ringside {

struct IdxArray {
  std::vector<int64_t> shape;
  std::vector<uint8_t> values;  // product of `shape` many
};

// Reads a whole file of unsigned bytes with exactly `dimensions` dimensions, compressed by gzip or
// plain: the content tells. Memory grows with what the file really holds, never with what its
// header claims. NOT_FOUND: no such file. INVALID_ARGUMENT, naming the path and what is wrong:
// cannot be read, damaged compression, wrong magic number, shorter or longer than its header says.
absl::StatusOr<IdxArray> ReadIdxBytes(const std::string& path, int dimensions);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_IDX_READER_H_
