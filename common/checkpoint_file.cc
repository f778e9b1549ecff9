#include "common/checkpoint_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/checked_file.h"
#include "common/sha256.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// The manifest of a model with a thousand tensors on a thousand shards has a few hundred KiB.
constexpr CheckedFormat kFormat{"RINGCKPT", 1, "a checkpoint", 64 << 20};

absl::string_view AsText(absl::Span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

int64_t SizeOf(absl::string_view dtype) {
  if (dtype == "float32") return 4;
  return dtype == "int64" ? 8 : 0;
}

// -1: an extent is negative, or the product is no int64_t.
int64_t Elements(const CheckpointTensor& tensor) {
  int64_t product = 1;
  for (int64_t extent : tensor.shape()) {
    if (extent < 0 || __builtin_mul_overflow(product, extent, &product)) return -1;
  }
  return product;
}

// A sum that is right says that nothing has changed since it was written, not that the writer knew
// what it did: whoever reads tensors relies on this.
absl::Status CheckTensors(const CheckpointManifest& manifest, const CheckedReader& reader) {
  for (const CheckpointSection& section : manifest.sections()) {
    const int64_t size = SizeOf(section.dtype());
    if (size != 0 && section.bytes() % static_cast<uint64_t>(size) == 0) continue;
    return reader.Damaged(absl::StrCat("its section ", section.name(), " of type \"",
                                       section.dtype(), "\" has ", section.bytes(), " bytes"));
  }
  for (const CheckpointTensor& tensor : manifest.tensors()) {
    const auto section = std::find_if(
        manifest.sections().begin(), manifest.sections().end(),
        [&](const CheckpointSection& each) { return each.name() == tensor.section(); });
    const int64_t elements = Elements(tensor);
    if (section != manifest.sections().end() && section->dtype() == tensor.dtype()) {
      const int64_t there = static_cast<int64_t>(section->bytes()) / SizeOf(section->dtype());
      const int64_t offset = tensor.offset();
      if (elements >= 0 && offset >= 0 && offset <= there && elements <= there - offset) continue;
    }
    return reader.Damaged(absl::StrCat("its tensor ", tensor.name(), " lies in no section"));
  }
  return absl::OkStatus();
}

absl::StatusOr<CheckpointManifest> ReadManifest(CheckedReader* reader) {
  RINGSIDE_ASSIGN_OR_RETURN(const std::string text, reader->ReadHeader(kFormat));
  CheckpointManifest manifest;
  if (!manifest.ParseFromString(text)) return reader->Damaged("its manifest cannot be read");
  if (manifest.schema_version() != kCheckpointSchemaVersion) {
    return absl::FailedPreconditionError(
        reader
            ->Damaged(absl::StrCat("a manifest of schema version ", manifest.schema_version(),
                                   "; must be ", kCheckpointSchemaVersion))
            .message());
  }
  std::vector<uint64_t> lengths;
  for (const CheckpointSection& section : manifest.sections()) lengths.push_back(section.bytes());
  RINGSIDE_RETURN_IF_ERROR(reader->CheckSections(lengths));
  RINGSIDE_RETURN_IF_ERROR(CheckTensors(manifest, *reader));
  return manifest;
}

}  // namespace

StateSection StateSection::Of(std::string name, absl::Span<float> values) {
  return {std::move(name),
          "float32",
          {reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(float)}};
}

StateSection StateSection::Of(std::string name, absl::Span<int64_t> values) {
  return {std::move(name),
          "int64",
          {reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(int64_t)}};
}

const std::vector<uint8_t>* Checkpoint::Find(absl::string_view name) const {
  for (int i = 0; i < manifest.sections_size(); ++i) {
    if (manifest.sections(i).name() == name) return &sections[static_cast<size_t>(i)];
  }
  return nullptr;
}

absl::StatusOr<int64_t> WriteCheckpointFile(const std::string& path, CheckpointManifest manifest,
                                            const std::vector<StateSection>& sections) {
  manifest.set_schema_version(kCheckpointSchemaVersion);
  manifest.clear_sections();
  for (const StateSection& section : sections) {
    CheckpointSection* entry = manifest.add_sections();
    entry->set_name(section.name);
    entry->set_dtype(section.dtype);
    entry->set_bytes(section.bytes.size());
    entry->set_sha256(Sha256Hex(AsText(section.bytes)));
  }
  return WriteCheckedFile(path, [&](CheckedWriter* writer) -> absl::Status {
    RINGSIDE_RETURN_IF_ERROR(writer->WriteHeader(kFormat, manifest.SerializeAsString()));
    for (const StateSection& section : sections) {
      RINGSIDE_RETURN_IF_ERROR(writer->WriteSection(section.bytes.data(), section.bytes.size()));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<Checkpoint> ReadCheckpointFile(const std::string& path) {
  RINGSIDE_ASSIGN_OR_RETURN(CheckedReader reader, CheckedReader::Open(path));
  Checkpoint checkpoint;
  RINGSIDE_ASSIGN_OR_RETURN(checkpoint.manifest, ReadManifest(&reader));
  for (const CheckpointSection& section : checkpoint.manifest.sections()) {
    std::vector<uint8_t>& bytes = checkpoint.sections.emplace_back(section.bytes());
    RINGSIDE_RETURN_IF_ERROR(reader.ReadSection(section.name(), bytes.data(), bytes.size()));
    if (Sha256Hex(AsText(bytes)) != section.sha256()) {
      return reader.Damaged(
          absl::StrCat("the SHA-256 of its ", section.name(), " is not that of its manifest"));
    }
  }
  return checkpoint;
}

absl::StatusOr<CheckpointManifest> ReadCheckpointManifest(const std::string& path) {
  RINGSIDE_ASSIGN_OR_RETURN(CheckedReader reader, CheckedReader::Open(path));
  return ReadManifest(&reader);
}

absl::Status RestoreSections(const Checkpoint& checkpoint,
                             const std::vector<StateSection>& sections) {
  for (const CheckpointSection& theirs : checkpoint.manifest.sections()) {
    const bool known = std::any_of(sections.begin(), sections.end(), [&](const StateSection& own) {
      return own.name == theirs.name();
    });
    if (!known) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the checkpoint has a section ", theirs.name(), ", for which this job has no place"));
    }
  }
  for (const StateSection& own : sections) {
    const std::vector<uint8_t>* bytes = checkpoint.Find(own.name);
    if (bytes != nullptr && bytes->size() == own.bytes.size()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the checkpoint has ",
                     bytes == nullptr ? "no section" : absl::StrCat(bytes->size(), " bytes of"),
                     " ", own.name, "; this job needs ", own.bytes.size(), " bytes of it"));
  }
  for (const StateSection& own : sections) {
    const std::vector<uint8_t>& bytes = *checkpoint.Find(own.name);
    std::copy(bytes.begin(), bytes.end(), own.bytes.begin());
  }
  return absl::OkStatus();
}

}  // namespace ringside
