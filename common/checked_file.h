// Files of one header and some sections, each followed by its CRC-32: what shards and workers save
// their state in.
//
//   bytes   what
//   8       a magic word that says which kind of file it is
//   4       version of its format
//   4       length h of the header
//   h       the header, which has the lengths of all sections
//   4       CRC-32 of all that precedes
//   n, 4    each section and its CRC-32
//
// All little-endian. CRC-32 is zlib's: the enemy is a torn write or a bad disk, not a forger. The
// lengths must add up to the size of the file before anything is allocated for them. Sections are
// read into memory, never mapped, so they are not aligned.
//
// Errors name the file. DATA_LOSS: it is torn, damaged or of another kind. FAILED_PRECONDITION: it
// is of another version of its format. What the system refuses has the code of its errno, e.g.
// RESOURCE_EXHAUSTED: the disk is full, NOT_FOUND, PERMISSION_DENIED. Thread-compatible; all calls
// block on the disk.
#ifndef RINGSIDE_COMMON_CHECKED_FILE_H_
#define RINGSIDE_COMMON_CHECKED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/network/socket.h"

namespace ringside {

struct CheckedFormat {
  absl::string_view magic;  // of 8 bytes
  uint32_t version = 1;
  absl::string_view kind;  // "a snapshot", in messages
  size_t max_header_bytes = 64 << 10;
};

// Appends to a file and adds up what goes into it.
class CheckedWriter {
 public:
  // Borrows the descriptor.
  CheckedWriter(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  // INVALID_ARGUMENT: the header is longer than the format allows.
  absl::Status WriteHeader(const CheckedFormat& format, const std::string& header);
  absl::Status WriteSection(const void* data, size_t bytes);
  int64_t written() const { return written_; }

 private:
  absl::Status Write(const void* data, size_t bytes);
  absl::Status WriteCrc();
  absl::Status WriteAll(const uint8_t* data, size_t bytes);

  const std::string path_;
  const int fd_;
  uint32_t crc_ = 0;
  int64_t written_ = 0;
};

// Creates or replaces `path` by what `write` writes, and returns when it is on the disk, with its
// size in bytes. On an error what has been written is left to the caller.
absl::StatusOr<int64_t> WriteCheckedFile(const std::string& path,
                                         const std::function<absl::Status(CheckedWriter*)>& write);

// Reads a file from its start and checks what comes out of it.
class CheckedReader {
 public:
  static absl::StatusOr<CheckedReader> Open(const std::string& path);

  absl::StatusOr<std::string> ReadHeader(const CheckedFormat& format);
  // Whether sections of these lengths, in bytes, are exactly what follows. Call before anything is
  // allocated for them.
  absl::Status CheckSections(const std::vector<uint64_t>& section_bytes) const;
  // `name` is for the message.
  absl::Status ReadSection(absl::string_view name, void* data, size_t bytes);

  absl::Status Damaged(absl::string_view how) const;

 private:
  CheckedReader(std::string path, FileDescriptor file, uint64_t file_bytes)
      : path_(std::move(path)), file_(std::move(file)), file_bytes_(file_bytes) {}

  absl::Status Read(void* data, size_t bytes);
  absl::Status ReadAll(uint8_t* data, size_t bytes);
  absl::Status CheckCrc(absl::string_view section);

  std::string path_;
  FileDescriptor file_;
  uint64_t file_bytes_;
  uint32_t crc_ = 0;
  uint64_t consumed_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CHECKED_FILE_H_
