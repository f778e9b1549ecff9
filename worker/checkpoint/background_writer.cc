#include "worker/checkpoint/background_writer.h"

#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// Sections begin at whole cache lines.
constexpr size_t kAlignment = 64;

size_t RoundedUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

absl::StatusOr<std::unique_ptr<BackgroundWriter>> BackgroundWriter::Create(
    std::vector<StateSection> state, Write write) {
  size_t bytes = 0;
  for (const StateSection& section : state) bytes += RoundedUp(section.bytes.size());
  RINGSIDE_ASSIGN_OR_RETURN(
      std::unique_ptr<Arena> buffer,
      Arena::Create(static_cast<int64_t>(bytes / sizeof(float)), Arena::Placement::kHeap));
  return absl::WrapUnique(
      new BackgroundWriter(std::move(state), std::move(write), std::move(buffer)));
}

BackgroundWriter::BackgroundWriter(std::vector<StateSection> state, Write write,
                                   std::unique_ptr<Arena> buffer)
    : state_(std::move(state)), write_(std::move(write)), buffer_(std::move(buffer)) {
  auto* at = reinterpret_cast<uint8_t*>(buffer_->span().data());
  for (const StateSection& section : state_) {
    copy_.push_back({section.name, section.dtype, {at, section.bytes.size()}});
    at += RoundedUp(section.bytes.size());
  }
  thread_ = std::thread([this] { WriteLoop(); });
}

BackgroundWriter::~BackgroundWriter() {
  {
    MutexLock lock(&mutex_);
    ending_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

absl::Status BackgroundWriter::Save(CheckpointManifest manifest) {
  const absl::Time start = MonotonicNow();
  RINGSIDE_RETURN_IF_ERROR(Finish());
  const absl::Time free = MonotonicNow();
  for (size_t i = 0; i < state_.size(); ++i) {
    if (state_[i].bytes.empty()) continue;
    std::memcpy(copy_[i].bytes.data(), state_[i].bytes.data(), state_[i].bytes.size());
  }
  MutexLock lock(&mutex_);
  totals_.waiting += free - start;
  totals_.copying += MonotonicNow() - free;
  manifest_ = std::move(manifest);
  pending_ = true;
  changed_.NotifyAll();
  return absl::OkStatus();
}

absl::Status BackgroundWriter::Finish() {
  MutexLock lock(&mutex_);
  while (pending_) changed_.Wait(&mutex_);
  return error_;
}

absl::Status BackgroundWriter::Error() const {
  MutexLock lock(&mutex_);
  return error_;
}

bool BackgroundWriter::busy() const {
  MutexLock lock(&mutex_);
  return pending_;
}

BackgroundWriter::Totals BackgroundWriter::totals() const {
  MutexLock lock(&mutex_);
  return totals_;
}

void BackgroundWriter::WriteLoop() {
  while (true) {
    CheckpointManifest manifest;
    {
      MutexLock lock(&mutex_);
      while (!pending_ && !ending_) changed_.Wait(&mutex_);
      if (!pending_) return;
      manifest = std::move(manifest_);
    }
    const absl::Time start = MonotonicNow();
    const absl::StatusOr<int64_t> bytes = write_(manifest, copy_);
    MutexLock lock(&mutex_);
    totals_.writing += MonotonicNow() - start;
    if (bytes.ok()) {
      ++totals_.written;
      totals_.bytes = *bytes;
      totals_.written_at = MonotonicNow();
    } else if (error_.ok()) {
      error_ = bytes.status();
    }
    pending_ = false;
    changed_.NotifyAll();
  }
}

}  // namespace ringside
