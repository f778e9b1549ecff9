#include "ps_server/snapshot_file.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/checked_file.h"
#include "common/status_macros.h"
#include "snapshot.pb.h"

namespace ringside {
namespace {

constexpr CheckedFormat kFormat{"RINGSNAP", 1, "a snapshot", 64 << 10};

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

template <typename T>
absl::Status WriteSection(absl::Span<const T> values, CheckedWriter* writer) {
  return writer->WriteSection(values.data(), values.size() * sizeof(T));
}

template <typename T>
absl::Status ReadSection(absl::string_view name, uint64_t elements, std::vector<T>* values,
                         CheckedReader* reader) {
  values->resize(elements);
  return reader->ReadSection(name, values->data(), values->size() * sizeof(T));
}

// UINT64_MAX, which no file has, where the product is none.
uint64_t Bytes(uint64_t elements, uint64_t size) {
  return elements > UINT64_MAX / size ? UINT64_MAX : elements * size;
}

// Whether the sections that the header announces are what follows it.
absl::Status CheckSize(const SnapshotHeader& header, const CheckedReader& reader) {
  std::vector<uint64_t> sections = {Bytes(header.parameters(), sizeof(float))};
  for (uint64_t elements : header.optimizer_state()) {
    sections.push_back(Bytes(elements, sizeof(float)));
  }
  sections.push_back(Bytes(header.versions(), sizeof(uint64_t)));
  return reader.CheckSections(sections);
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

absl::StatusOr<SnapshotHeader> ReadCheckedHeader(const std::string& path,
                                                 const SnapshotIdentity& identity,
                                                 CheckedReader* reader) {
  RINGSIDE_ASSIGN_OR_RETURN(const std::string text, reader->ReadHeader(kFormat));
  SnapshotHeader header;
  if (!header.ParseFromString(text)) return reader->Damaged("damaged: its header cannot be read");
  RINGSIDE_RETURN_IF_ERROR(CheckSize(header, *reader));
  RINGSIDE_RETURN_IF_ERROR(CheckIdentity(path, header, identity));
  return header;
}

}  // namespace

absl::StatusOr<int64_t> WriteSnapshotFile(const std::string& path, const SnapshotIdentity& identity,
                                          const SnapshotView& snapshot) {
  return WriteCheckedFile(path, [&](CheckedWriter* writer) -> absl::Status {
    RINGSIDE_RETURN_IF_ERROR(
        writer->WriteHeader(kFormat, MakeHeader(identity, snapshot).SerializeAsString()));
    RINGSIDE_RETURN_IF_ERROR(WriteSection(snapshot.parameters, writer));
    for (const absl::Span<const float>& state : snapshot.optimizer_state) {
      RINGSIDE_RETURN_IF_ERROR(WriteSection(state, writer));
    }
    return WriteSection(snapshot.versions, writer);
  });
}

absl::StatusOr<ShardSnapshot> ReadSnapshotFile(const std::string& path,
                                               const SnapshotIdentity& identity) {
  RINGSIDE_ASSIGN_OR_RETURN(CheckedReader reader, CheckedReader::Open(path));
  RINGSIDE_ASSIGN_OR_RETURN(const SnapshotHeader header,
                            ReadCheckedHeader(path, identity, &reader));
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
  RINGSIDE_ASSIGN_OR_RETURN(CheckedReader reader, CheckedReader::Open(path));
  RINGSIDE_ASSIGN_OR_RETURN(const SnapshotHeader header,
                            ReadCheckedHeader(path, identity, &reader));
  return header.step();
}

}  // namespace ringside
