#include "worker/data/idx_reader.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr uint8_t kUnsignedByte = 0x08;
constexpr int64_t kReadBytes = int64_t{1} << 20;

// A file that zlib reads, whether it is compressed or not.
class ByteSource {
 public:
  static absl::StatusOr<ByteSource> Open(const std::string& path) {
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0) {
      const std::string message = absl::StrCat(path, ": ", strerror(errno));
      return errno == ENOENT ? absl::NotFoundError(message) : absl::InvalidArgumentError(message);
    }
    if (!S_ISREG(info.st_mode)) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": is not a regular file"));
    }
    const gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": cannot be opened: ", strerror(errno)));
    }
    return ByteSource(path, file);
  }

  // Returns how many bytes there were; fewer than asked for at the end of the file only.
  absl::StatusOr<int64_t> Read(uint8_t* target, int64_t bytes) {
    int64_t done = 0;
    while (done < bytes) {
      const int64_t wanted = std::min(bytes - done, kReadBytes);
      const int got = gzread(file_.get(), target + done, static_cast<unsigned>(wanted));
      // A compressed file that stops too early reads as a short file; only gzerror tells.
      int code = Z_OK;
      const char* reason = gzerror(file_.get(), &code);
      if (got < 0 || code == Z_BUF_ERROR) {
        return absl::InvalidArgumentError(absl::StrCat(path_, ": damaged or truncated gzip file: ",
                                                       code == Z_ERRNO ? strerror(errno) : reason));
      }
      if (got == 0) break;
      done += got;
    }
    return done;
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };

  ByteSource(std::string path, gzFile file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

absl::StatusOr<std::vector<int64_t>> ReadShape(const std::string& path, int dimensions,
                                               ByteSource* source) {
  std::vector<uint8_t> header(4 + 4 * dimensions);
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t got, source->Read(header.data(), header.size()));
  const std::array<uint8_t, 4> magic = {0, 0, kUnsignedByte, static_cast<uint8_t>(dimensions)};
  if (got >= 4 && !std::equal(magic.begin(), magic.end(), header.begin())) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: not an IDX file of bytes with %d dimension(s): starts with %02x%02x%02x%02x, not "
        "000008%02x",
        path, dimensions, header[0], header[1], header[2], header[3], dimensions));
  }
  if (got < static_cast<int64_t>(header.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": truncated: ", got, " bytes, the header alone has ", header.size()));
  }
  std::vector<int64_t> shape;
  for (int i = 1; i <= dimensions; ++i) {
    const uint8_t* bytes = &header[4 * i];
    shape.push_back(int64_t{bytes[0]} << 24 | int64_t{bytes[1]} << 16 | int64_t{bytes[2]} << 8 |
                    int64_t{bytes[3]});
  }
  return shape;
}

// The product of the extents, at most the largest int64.
int64_t Elements(const std::vector<int64_t>& shape) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (std::count(shape.begin(), shape.end(), 0) > 0) return 0;
  int64_t product = 1;
  for (int64_t extent : shape) {
    if (product > kMost / extent) return kMost;
    product *= extent;
  }
  return product;
}

}  // namespace

absl::StatusOr<IdxArray> ReadIdxBytes(const std::string& path, int dimensions) {
  RINGSIDE_ASSIGN_OR_RETURN(ByteSource source, ByteSource::Open(path));
  IdxArray array;
  RINGSIDE_ASSIGN_OR_RETURN(array.shape, ReadShape(path, dimensions, &source));
  const int64_t elements = Elements(array.shape);
  while (static_cast<int64_t>(array.values.size()) < elements) {
    const int64_t before = array.values.size();
    const int64_t wanted = std::min(elements - before, kReadBytes);
    array.values.resize(before + wanted);
    RINGSIDE_ASSIGN_OR_RETURN(const int64_t got, source.Read(array.values.data() + before, wanted));
    if (got < wanted) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": truncated: ", before + got,
                                                     " of the ", absl::StrJoin(array.shape, "x"),
                                                     " bytes that its header announces"));
    }
  }
  uint8_t extra = 0;
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t trailing, source.Read(&extra, 1));
  if (trailing > 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": has bytes after the ",
                                                   absl::StrJoin(array.shape, "x"),
                                                   " that its header announces"));
  }
  return array;
}

}  // namespace ringside
