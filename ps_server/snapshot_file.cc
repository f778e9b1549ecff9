#include "ps_server/snapshot_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/base/internal/endian.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/network/socket.h"
#include "common/status_macros.h"
#include "snapshot.pb.h"

namespace ringside {
namespace {

namespace le = absl::little_endian;

#ifndef ABSL_IS_LITTLE_ENDIAN
#error "Sections are written as they lie in memory, which must be little-endian."
#endif

constexpr absl::string_view kMagic = "RINGSNAP";
constexpr uint32_t kVersion = 1;
constexpr size_t kPrefixBytes = 16;
constexpr size_t kCrcBytes = 4;
constexpr size_t kMaxHeaderBytes = 64 << 10;
// Small enough to be in the cache still when it is written after it has been added up.
constexpr size_t kChunkBytes = 256 << 10;

std::string Hex(uint32_t value) { return absl::StrCat(absl::Hex(value, absl::kZeroPad8)); }

// Appends to a file and adds up what goes into it.
class Writer {
 public:
  Writer(const std::string& path, int fd) : path_(path), fd_(fd) {}

  absl::Status Write(const void* data, size_t bytes) {
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
  absl::Status WriteCrc() {
    uint8_t bytes[kCrcBytes];
    le::Store32(bytes, crc_);
    crc_ = 0;
    return WriteAll(bytes, sizeof(bytes));
  }

  int64_t written() const { return written_; }

 private:
  absl::Status WriteAll(const uint8_t* data, size_t bytes) {
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

  const std::string& path_;
  const int fd_;
  uint32_t crc_ = 0;
  int64_t written_ = 0;
};

absl::Status Damaged(const std::string& path, absl::string_view how) {
  return absl::DataLossError(absl::StrCat(path, ": ", how));
}

// Reads a file from its start and adds up what comes out of it.
class Reader {
 public:
  Reader(const std::string& path, int fd) : path_(path), fd_(fd) {}

  absl::Status Read(void* data, size_t bytes) {
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

  absl::Status CheckCrc(absl::string_view section) {
    uint8_t bytes[kCrcBytes];
    RINGSIDE_RETURN_IF_ERROR(ReadAll(bytes, sizeof(bytes)));
    const uint32_t expected = le::Load32(bytes), actual = crc_;
    crc_ = 0;
    if (actual == expected) return absl::OkStatus();
    return Damaged(path_, absl::StrCat("damaged: the CRC-32 of its ", section, " is ", Hex(actual),
                                       " and should be ", Hex(expected)));
  }

  uint64_t consumed() const { return consumed_; }

 private:
  absl::Status ReadAll(uint8_t* data, size_t bytes) {
    while (bytes > 0) {
      const ssize_t count = read(fd_, data, bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return absl::ErrnoToStatus(errno, absl::StrCat("reading ", path_));
      if (count == 0) return Damaged(path_, absl::StrCat("torn: ends after ", consumed_, " bytes"));
      data += count;
      bytes -= static_cast<size_t>(count);
      consumed_ += static_cast<uint64_t>(count);
    }
    return absl::OkStatus();
  }

  const std::string& path_;
  const int fd_;
  uint32_t crc_ = 0;
  uint64_t consumed_ = 0;
};

SnapshotHeader MakeHeader(const SnapshotIdentity& identity, const SnapshotView& snapshot) {
  SnapshotHeader header;
  header.set_step(snapshot.step);
  header.set_generation(snapshot.generation);
  header.set_job(identity.job);
  header.set_shard(identity.shard);
  header.set_num_shards(identity.num_shards);
  header.set_plan_sha256(identity.plan_hash);
  header.set_settings_sha256(identity.settings_hash);
  header.set_parameters(snapshot.parameters.size());
  for (const auto& state : snapshot.optimizer_state) header.add_optimizer_state(state.size());
  header.set_versions(snapshot.versions.size());
  return header;
}

absl::Status WriteHeader(const std::string& path, const SnapshotHeader& header, Writer* writer) {
  const std::string text = header.SerializeAsString();
  if (text.size() > kMaxHeaderBytes) {
    return absl::InvalidArgumentError(absl::StrCat("writing ", path, ": a header of ", text.size(),
                                                   " bytes; must be at most ", kMaxHeaderBytes));
  }
  uint8_t prefix[kPrefixBytes];
  std::memcpy(prefix, kMagic.data(), kMagic.size());
  le::Store32(prefix + 8, kVersion);
  le::Store32(prefix + 12, static_cast<uint32_t>(text.size()));
  RINGSIDE_RETURN_IF_ERROR(writer->Write(prefix, sizeof(prefix)));
  RINGSIDE_RETURN_IF_ERROR(writer->Write(text.data(), text.size()));
  return writer->WriteCrc();
}

template <typename T>
absl::Status WriteSection(absl::Span<const T> values, Writer* writer) {
  RINGSIDE_RETURN_IF_ERROR(writer->Write(values.data(), values.size() * sizeof(T)));
  return writer->WriteCrc();
}

template <typename T>
absl::Status ReadSection(absl::string_view name, uint64_t elements, std::vector<T>* values,
                         Reader* reader) {
  values->resize(elements);
  RINGSIDE_RETURN_IF_ERROR(reader->Read(values->data(), values->size() * sizeof(T)));
  return reader->CheckCrc(name);
}

absl::StatusOr<SnapshotHeader> ReadHeader(const std::string& path, Reader* reader) {
  uint8_t prefix[kPrefixBytes];
  RINGSIDE_RETURN_IF_ERROR(reader->Read(prefix, sizeof(prefix)));
  if (std::memcmp(prefix, kMagic.data(), kMagic.size()) != 0) {
    return Damaged(path, "not a snapshot: does not start with RINGSNAP");
  }
  const uint32_t version = le::Load32(prefix + 8), length = le::Load32(prefix + 12);
  if (version != kVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": of version ", version, " of the format; must be ", kVersion));
  }
  if (length > kMaxHeaderBytes) {
    return Damaged(path, absl::StrCat("damaged: a header of ", length, " bytes; must be at most ",
                                      kMaxHeaderBytes));
  }
  std::string text(length, '\0');
  RINGSIDE_RETURN_IF_ERROR(reader->Read(text.data(), text.size()));
  RINGSIDE_RETURN_IF_ERROR(reader->CheckCrc("header"));
  SnapshotHeader header;
  if (!header.ParseFromString(text)) return Damaged(path, "damaged: its header cannot be read");
  return header;
}

// Whether the sections that the header announces are what follows it. Lengths are taken from what
// is left, so that no sum can overflow.
absl::Status CheckSize(const std::string& path, const SnapshotHeader& header, uint64_t consumed,
                       uint64_t file_bytes) {
  uint64_t left = file_bytes - std::min(consumed, file_bytes);
  const auto take = [&left](uint64_t elements, uint64_t size) {
    if (left < kCrcBytes || elements > (left - kCrcBytes) / size) return false;
    left -= elements * size + kCrcBytes;
    return true;
  };
  bool fits = take(header.parameters(), sizeof(float));
  for (uint64_t elements : header.optimizer_state()) fits = fits && take(elements, sizeof(float));
  fits = fits && take(header.versions(), sizeof(uint64_t));
  if (!fits) {
    return Damaged(
        path, absl::StrCat("torn: its ", file_bytes, " bytes are fewer than its header announces"));
  }
  if (left != 0) {
    return Damaged(path, absl::StrCat("damaged: ", left, " of its ", file_bytes,
                                      " bytes follow what its header announces"));
  }
  return absl::OkStatus();
}

absl::Status CheckIdentity(const std::string& path, const SnapshotHeader& header,
                           const SnapshotIdentity& ours) {
  const auto foreign = [&path](absl::string_view what, const auto& theirs, const auto& own) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": of another ", what, ": ", theirs, ", must be ", own));
  };
  if (header.job() != ours.job) return foreign("job", header.job(), ours.job);
  if (header.shard() != ours.shard) return foreign("shard", header.shard(), ours.shard);
  if (header.num_shards() != ours.num_shards) {
    return foreign("number of shards", header.num_shards(), ours.num_shards);
  }
  if (header.plan_sha256() != ours.plan_hash) {
    return foreign("bucket plan", header.plan_sha256(), ours.plan_hash);
  }
  if (header.settings_sha256() != ours.settings_hash) {
    return foreign("hash of the settings", header.settings_sha256(), ours.settings_hash);
  }
  return absl::OkStatus();
}

absl::StatusOr<FileDescriptor> Open(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("opening ", path));
  return file;
}

absl::StatusOr<SnapshotHeader> ReadCheckedHeader(const std::string& path,
                                                 const SnapshotIdentity& identity, int fd,
                                                 Reader* reader) {
  struct stat status;
  if (fstat(fd, &status) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("reading ", path));
  RINGSIDE_ASSIGN_OR_RETURN(SnapshotHeader header, ReadHeader(path, reader));
  RINGSIDE_RETURN_IF_ERROR(CheckSize(path, header, reader->consumed(),
                                     static_cast<uint64_t>(std::max<off_t>(status.st_size, 0))));
  RINGSIDE_RETURN_IF_ERROR(CheckIdentity(path, header, identity));
  return header;
}

}  // namespace

absl::StatusOr<int64_t> WriteSnapshotFile(const std::string& path, const SnapshotIdentity& identity,
                                          const SnapshotView& snapshot) {
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP));
  if (!file.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("creating ", path));
  Writer writer(path, file.get());
  RINGSIDE_RETURN_IF_ERROR(WriteHeader(path, MakeHeader(identity, snapshot), &writer));
  RINGSIDE_RETURN_IF_ERROR(WriteSection(snapshot.parameters, &writer));
  for (const absl::Span<const float>& state : snapshot.optimizer_state) {
    RINGSIDE_RETURN_IF_ERROR(WriteSection(state, &writer));
  }
  RINGSIDE_RETURN_IF_ERROR(WriteSection(snapshot.versions, &writer));
  if (fsync(file.get()) != 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("bringing the ", writer.written(), " bytes of ", path, " to the disk"));
  }
  return writer.written();
}

absl::StatusOr<ShardSnapshot> ReadSnapshotFile(const std::string& path,
                                               const SnapshotIdentity& identity) {
  RINGSIDE_ASSIGN_OR_RETURN(const FileDescriptor file, Open(path));
  Reader reader(path, file.get());
  RINGSIDE_ASSIGN_OR_RETURN(const SnapshotHeader header,
                            ReadCheckedHeader(path, identity, file.get(), &reader));
  ShardSnapshot snapshot;
  snapshot.step = header.step();
  snapshot.generation = header.generation();
  RINGSIDE_RETURN_IF_ERROR(
      ReadSection("parameters", header.parameters(), &snapshot.parameters, &reader));
  for (int i = 0; i < header.optimizer_state_size(); ++i) {
    RINGSIDE_RETURN_IF_ERROR(ReadSection(absl::StrCat("optimizer state ", i),
                                         header.optimizer_state(i),
                                         &snapshot.optimizer_state.emplace_back(), &reader));
  }
  RINGSIDE_RETURN_IF_ERROR(ReadSection("versions", header.versions(), &snapshot.versions, &reader));
  return snapshot;
}

absl::StatusOr<uint64_t> CheckSnapshotFile(const std::string& path,
                                           const SnapshotIdentity& identity) {
  RINGSIDE_ASSIGN_OR_RETURN(const FileDescriptor file, Open(path));
  Reader reader(path, file.get());
  RINGSIDE_ASSIGN_OR_RETURN(const SnapshotHeader header,
                            ReadCheckedHeader(path, identity, file.get(), &reader));
  return header.step();
}

}  // namespace ringside
