#include "common/checked_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/base/internal/endian.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

namespace le = absl::little_endian;

#ifndef ABSL_IS_LITTLE_ENDIAN
#error "Sections are written as they lie in memory, which must be little-endian."
#endif

constexpr size_t kMagicBytes = 8;
constexpr size_t kPrefixBytes = 16;
constexpr size_t kCrcBytes = 4;
// Small enough to be in the cache still when it is written after it has been added up.
constexpr size_t kChunkBytes = 256 << 10;

std::string Hex(uint32_t value) { return absl::StrCat(absl::Hex(value, absl::kZeroPad8)); }

}  // namespace

absl::Status CheckedWriter::WriteHeader(const CheckedFormat& format, const std::string& header) {
  RINGSIDE_CHECK(format.magic.size() == kMagicBytes);
  if (header.size() > format.max_header_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("writing ", path_, ": a header of ",
                                                   header.size(), " bytes; must be at most ",
                                                   format.max_header_bytes));
  }
  uint8_t prefix[kPrefixBytes];
  std::memcpy(prefix, format.magic.data(), kMagicBytes);
  le::Store32(prefix + 8, format.version);
  le::Store32(prefix + 12, static_cast<uint32_t>(header.size()));
  RINGSIDE_RETURN_IF_ERROR(Write(prefix, sizeof(prefix)));
  RINGSIDE_RETURN_IF_ERROR(Write(header.data(), header.size()));
  return WriteCrc();
}

absl::Status CheckedWriter::WriteSection(const void* data, size_t bytes) {
  RINGSIDE_RETURN_IF_ERROR(Write(data, bytes));
  return WriteCrc();
}

absl::Status CheckedWriter::Write(const void* data, size_t bytes) {
  const auto* at = static_cast<const uint8_t*>(data);
  while (bytes > 0) {
    const size_t chunk = std::min(bytes, kChunkBytes);
    crc_ = static_cast<uint32_t>(crc32_z(crc_, at, chunk));
    RINGSIDE_RETURN_IF_ERROR(WriteAll(at, chunk));
    at += chunk;
    bytes -= chunk;
  }
  return absl::OkStatus();
}

// Ends a section with the sum of what has been written since the last.
absl::Status CheckedWriter::WriteCrc() {
  uint8_t bytes[kCrcBytes];
  le::Store32(bytes, crc_);
  crc_ = 0;
  return WriteAll(bytes, sizeof(bytes));
}

absl::Status CheckedWriter::WriteAll(const uint8_t* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t count = write(fd_, data, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return absl::ErrnoToStatus(count < 0 ? errno : ENOSPC,
                                 absl::StrCat("writing ", path_, ", after ", written_, " bytes"));
    }
    data += count;
    bytes -= static_cast<size_t>(count);
    written_ += count;
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> WriteCheckedFile(const std::string& path,
                                         const std::function<absl::Status(CheckedWriter*)>& write) {
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP));
  if (!file.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("creating ", path));
  CheckedWriter writer(path, file.get());
  RINGSIDE_RETURN_IF_ERROR(write(&writer));
  if (fsync(file.get()) != 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("bringing the ", writer.written(), " bytes of ", path, " to the disk"));
  }
  return writer.written();
}

absl::StatusOr<CheckedReader> CheckedReader::Open(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("opening ", path));
  struct stat status;
  if (fstat(file.get(), &status) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("reading ", path));
  }
  return CheckedReader(path, std::move(file),
                       static_cast<uint64_t>(std::max<off_t>(status.st_size, 0)));
}

absl::StatusOr<std::string> CheckedReader::ReadHeader(const CheckedFormat& format) {
  uint8_t prefix[kPrefixBytes];
  RINGSIDE_RETURN_IF_ERROR(Read(prefix, sizeof(prefix)));
  if (std::memcmp(prefix, format.magic.data(), kMagicBytes) != 0) {
    return Damaged(absl::StrCat("not ", format.kind, ": does not start with ", format.magic));
  }
  const uint32_t version = le::Load32(prefix + 8), length = le::Load32(prefix + 12);
  if (version != format.version) {
    return absl::FailedPreconditionError(
        absl::StrCat(path_, ": of version ", version, " of the format; must be ", format.version));
  }
  if (length > format.max_header_bytes) {
    return Damaged(absl::StrCat("damaged: a header of ", length, " bytes; must be at most ",
                                format.max_header_bytes));
  }
  std::string header(std::min<uint64_t>(length, file_bytes_), '\0');
  RINGSIDE_RETURN_IF_ERROR(Read(header.data(), header.size()));
  if (header.size() < length) return Damaged(absl::StrCat("torn: ends in its header"));
  RINGSIDE_RETURN_IF_ERROR(CheckCrc("header"));
  return header;
}

// Lengths are taken from what is left, so that no sum can overflow.
absl::Status CheckedReader::CheckSections(const std::vector<uint64_t>& section_bytes) const {
  uint64_t left = file_bytes_ - std::min(consumed_, file_bytes_);
  for (uint64_t bytes : section_bytes) {
    if (left < kCrcBytes || bytes > left - kCrcBytes) {
      return Damaged(
          absl::StrCat("torn: its ", file_bytes_, " bytes are fewer than its header announces"));
    }
    left -= bytes + kCrcBytes;
  }
  if (left == 0) return absl::OkStatus();
  return Damaged(absl::StrCat("damaged: ", left, " of its ", file_bytes_,
                              " bytes follow what its header announces"));
}

absl::Status CheckedReader::ReadSection(absl::string_view name, void* data, size_t bytes) {
  RINGSIDE_RETURN_IF_ERROR(Read(data, bytes));
  return CheckCrc(name);
}

absl::Status CheckedReader::Damaged(absl::string_view how) const {
  return absl::DataLossError(absl::StrCat(path_, ": ", how));
}

absl::Status CheckedReader::Read(void* data, size_t bytes) {
  auto* at = static_cast<uint8_t*>(data);
  while (bytes > 0) {
    const size_t chunk = std::min(bytes, kChunkBytes);
    RINGSIDE_RETURN_IF_ERROR(ReadAll(at, chunk));
    crc_ = static_cast<uint32_t>(crc32_z(crc_, at, chunk));
    at += chunk;
    bytes -= chunk;
  }
  return absl::OkStatus();
}

absl::Status CheckedReader::CheckCrc(absl::string_view section) {
  uint8_t bytes[kCrcBytes];
  RINGSIDE_RETURN_IF_ERROR(ReadAll(bytes, sizeof(bytes)));
  const uint32_t expected = le::Load32(bytes), actual = crc_;
  crc_ = 0;
  if (actual == expected) return absl::OkStatus();
  return Damaged(absl::StrCat("damaged: the CRC-32 of its ", section, " is ", Hex(actual),
                              " and should be ", Hex(expected)));
}

absl::Status CheckedReader::ReadAll(uint8_t* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t count = read(file_.get(), data, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::ErrnoToStatus(errno, absl::StrCat("reading ", path_));
    if (count == 0) return Damaged(absl::StrCat("torn: ends after ", consumed_, " bytes"));
    data += count;
    bytes -= static_cast<size_t>(count);
    consumed_ += static_cast<uint64_t>(count);
  }
  return absl::OkStatus();
}

}  // namespace ringside
