#include "experiments/safetensors.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/base/internal/endian.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/check.h"
#include "common/durable_folder.h"

namespace ringside {
namespace {

constexpr size_t kLengthBytes = 8;

int64_t ElementBytes(const CheckpointTensor& tensor) { return tensor.dtype() == "int64" ? 8 : 4; }

int64_t Bytes(const CheckpointTensor& tensor) {
  int64_t bytes = ElementBytes(tensor);
  for (int64_t extent : tensor.shape()) bytes *= extent;
  return bytes;
}

std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&quoted, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};

absl::StatusOr<int64_t> WriteTo(const std::string& path, const Checkpoint& checkpoint) {
  const auto failed = [&path](absl::string_view doing) {
    return absl::ErrnoToStatus(errno, absl::StrCat(doing, " ", path));
  };
  const std::unique_ptr<FILE, CloseFile> file(fopen(path.c_str(), "wbe"));
  if (file == nullptr) return failed("creating");
  const std::string header = SafetensorsHeader(checkpoint.manifest);
  int64_t written = static_cast<int64_t>(header.size());
  if (fwrite(header.data(), 1, header.size(), file.get()) != header.size()) {
    return failed("writing");
  }
  for (const CheckpointTensor& tensor : checkpoint.manifest.tensors()) {
    const std::vector<uint8_t>* section = checkpoint.Find(tensor.section());
    RINGSIDE_CHECK(section != nullptr);
    const int64_t begin = tensor.offset() * ElementBytes(tensor);
    const auto bytes = static_cast<size_t>(Bytes(tensor));
    if (bytes == 0) continue;
    if (fwrite(section->data() + begin, 1, bytes, file.get()) != bytes) return failed("writing");
    written += static_cast<int64_t>(bytes);
  }
  if (fflush(file.get()) != 0 || fsync(fileno(file.get())) != 0) return failed("writing");
  return written;
}

}  // namespace

std::string SafetensorsHeader(const CheckpointManifest& manifest) {
  std::string json =
      absl::StrCat("{\"__metadata__\":{\"format\":\"pt\",\"step\":\"", manifest.step(), "\"}");
  int64_t offset = 0;
  for (const CheckpointTensor& tensor : manifest.tensors()) {
    const int64_t end = offset + Bytes(tensor);
    absl::StrAppend(&json, ",", Quoted(tensor.name()), ":{\"dtype\":\"",
                    tensor.dtype() == "int64" ? "I64" : "F32", "\",\"shape\":[",
                    absl::StrJoin(tensor.shape(), ","), "],\"data_offsets\":[", offset, ",", end,
                    "]}");
    offset = end;
  }
  json += "}";
  json.append((8 - json.size() % 8) % 8, ' ');
  std::string length(kLengthBytes, '\0');
  absl::little_endian::Store64(length.data(), json.size());
  return length + json;
}

absl::StatusOr<int64_t> WriteSafetensors(const Checkpoint& checkpoint, const std::string& path) {
  return ReplaceFile(path,
                     [&](const std::string& partial) { return WriteTo(partial, checkpoint); });
}

}  // namespace ringside
